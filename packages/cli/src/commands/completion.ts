/** `chassis completion`: static words, so that completing never starts anything. */
import { usage } from '../failure.ts';
import type { Call, CommandSpec, Ending, Reference } from '../reference/spec.ts';

const shells: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish };

interface Words {
  readonly commands: ReadonlyMap<string, CommandSpec>;
  /** Second words by first word. */
  readonly families: ReadonlyMap<string, readonly string[]>;
  /** Options of every command. */
  readonly globals: Reference['globals'];
}

export async function completion({ args: [shell = ''], reference, out }: Call): Promise<Ending> {
  const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (write === undefined) throw usage(`completion ${shell}: it is one of ${Object.keys(shells).join(', ')}`);
  const script = write(words(reference));
  out.line(script);
  return { result: { shell, script } };
}

function words({ groups, globals }: Reference): Words {
  const specs = groups.flatMap((group) => group.commands);
  const families = Map.groupBy(
    specs.filter(({ name }) => name.includes(' ')),
    ({ name }) => name.split(' ')[0] ?? '',
  );
  return {
    globals,
    commands: new Map(specs.map((spec) => [spec.name, spec])),
    families: new Map(
      [...families].map(([family, members]) => [family, members.map(({ name }) => name.split(' ')[1] ?? '')]),
    ),
  };
}

function firstWords({ commands }: Words): string[] {
  return [...new Set([...commands.keys()].map((name) => name.split(' ')[0] ?? ''))];
}

function flagsOf(options: readonly { readonly flags: string }[]): string[] {
  return options.flatMap(({ flags }) => flags.match(/--[a-z-]+/g) ?? []);
}

function bash(all: Words): string {
  const globals = flagsOf(all.globals).concat('--help').join(' ');
  const cases = [...all.commands].map(
    ([name, spec]) => `    "${name}") flags="${flagsOf(spec.options ?? []).join(' ')}" ;;`,
  );
  const families = [...all.families].map(([name, members]) => `    ${name}) words="${members.join(' ')}" ;;`);
  return `_chassis() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" flags="" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords(all).join(' ')} ${globals}" -- "$cur"))
    return
  fi
  case "$first" in
${families.join('\n')}
  esac
  if [ -n "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case "$first\${words:+ $second}" in
${cases.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags ${globals}" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -W "@last @failed" -- "$cur")) ;;
  esac
}
complete -o filenames -F _chassis chassis`;
}

function zsh(all: Words): string {
  return `#compdef chassis
autoload -U +X bashcompinit && bashcompinit
${bash(all)}`;
}

function fish(all: Words): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['complete -c chassis -f'];
  for (const [name, { about }] of all.commands) {
    const [first = '', second] = name.split(' ');
    if (second === undefined)
      lines.push(`complete -c chassis -n __fish_use_subcommand -a ${first} -d ${quoted(about)}`);
    else
      lines.push(
        `complete -c chassis -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(about)}`,
      );
  }
  for (const family of all.families.keys())
    lines.push(`complete -c chassis -n __fish_use_subcommand -a ${family}`);
  for (const [name, { options }] of all.commands)
    for (const { flags, about } of options ?? []) {
      const long = /--([a-z-]+)/.exec(flags)?.[1];
      if (long !== undefined)
        lines.push(
          `complete -c chassis -n '__fish_seen_subcommand_from ${name.split(' ').at(-1)}' -l ${long} -d ${quoted(about)}`,
        );
    }
  for (const { flags, about } of all.globals)
    lines.push(`complete -c chassis -l ${/--([a-z-]+)/.exec(flags)?.[1]} -d ${quoted(about)}`);
  return lines.join('\n');
}
