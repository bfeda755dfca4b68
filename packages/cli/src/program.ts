/**
 * The command line as commander understands it, made from the reference.
 *
 * Promise: an unknown command, option or argument is one InvalidParams error with the nearest valid name; help goes to
 * stdout; nothing of a command is loaded before it is called.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import { usage } from './failure.ts';
import { reference } from './reference/index.ts';
import type { CommandSpec, Globals, OptionSpec } from './reference/spec.ts';
import { screenWidth } from './terminal/screen.ts';
import { packageVersion } from './version.ts';

/** A command line that was understood. */
export interface Invocation {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly options: object;
  readonly globals: Globals;
}

/**
 * @param help takes the text of a help page or version
 * @returns undefined when the command line asked for help, which has been given
 * @throws InvalidParams for a command line that makes no sense
 */
export async function understand(
  argv: readonly string[],
  help: (text: string) => void,
): Promise<Invocation | undefined> {
  let found: Invocation | undefined;
  const program = build(help, (invocation) => {
    found = invocation;
  });
  if (argv.length === 0) {
    program.outputHelp();
    return undefined;
  }
  try {
    await program.parseAsync(helpOf(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw usage(await lineOf(error, program, argv));
  }
  return found;
}

/** `help plugin test` is `plugin test --help`: commander's own command takes one word and forgets the rest. */
function helpOf(argv: readonly string[]): string[] {
  const at = argv.indexOf('help');
  const words = argv.filter((word) => !word.startsWith('-'));
  if (words[0] !== 'help' || words.length < 3) return [...argv];
  const family = reference.groups
    .flatMap(({ commands }) => commands)
    .some(({ name }) => name === words.slice(1, 3).join(' '));
  const rest = argv.toSpliced(at, 1);
  // A word that no family has is told as a wrong command, not answered with the family's help.
  return family ? [...rest, '--help'] : rest;
}

function build(help: (text: string) => void, take: (invocation: Invocation) => void): Command {
  const program = new Command('chassis')
    .description('The runtime underneath AI agents: every capability is a plugin, every run is a recording.')
    .usage('COMMAND [OPTIONS]')
    .version(packageVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: help,
      // Help that nobody asked for belongs to an error, which tells it in one line.
      writeErr: () => {},
      getOutHelpWidth: () => screenWidth() ?? 100,
    })
    .addHelpText(
      'after',
      `
Examples:
  $ chassis init my-agent && cd my-agent && chassis run "Say hello"
  $ chassis ls --failed
  $ chassis why @failed

A session is an id, the beginning of one, @last, @failed, or the path of a bundle; ID:4 is its step 4.
Exit codes: 0 success, 1 the run or check failed, 2 usage or configuration, 3 model or plugin unavailable,
4 denied or over budget, 130 interrupted.`,
    );
  for (const spec of reference.globals) program.addOption(optionOf(spec));
  for (const { title, commands } of reference.groups) {
    program.commandsGroup(title);
    for (const spec of commands) add(program, spec, take);
  }
  program.helpCommand('help [command]', 'show the help of a command').commandsGroup('');
  return program;
}

function add(program: Command, spec: CommandSpec, take: (invocation: Invocation) => void): void {
  const words = spec.name.split(' ');
  const name = words.at(-1) ?? spec.name;
  const parent = words.length === 1 ? program : familyOf(program, words[0] ?? '');
  const command = parent
    .command(spec.args === undefined ? name : `${name} ${spec.args}`)
    .description(spec.about)
    .addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  $ ${shown(line)}`).join('\n')}`)
    .action(() => {
      take({ spec, args: [...command.args], options: command.opts(), globals: globalsOf(program.opts()) });
    });
  for (const item of spec.options ?? []) command.addOption(optionOf(item));
}

/** `plugin` of `plugin ls`. */
function familyOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const about = {
    plugin: 'Look at plugins, check them, write new ones.',
    skill: 'Look at skills: instructions that a model is given when it needs them.',
    config: 'Look at the configuration.',
    test: 'Keep recorded sessions as regression tests: add one, run them, approve what changed.',
  }[name];
  return program.command(name).description(about ?? name);
}

function shown(example: string): string {
  return example.includes('chassis ') ? example : `chassis ${example}`;
}

function optionOf(spec: OptionSpec): Option {
  const made = new Option(spec.flags, spec.about);
  return spec.many === true
    ? made.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value])
    : made;
}

interface GivenGlobals {
  readonly json?: true;
  readonly store?: string;
  readonly cwd?: string;
  readonly config?: readonly string[];
  readonly plugin?: readonly string[];
  readonly trust?: true;
  readonly safeMode?: true;
  readonly debug?: true;
}

function globalsOf(given: GivenGlobals): Globals {
  const cwd = resolve(given.cwd ?? '.');
  if (given.cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`--cwd ${given.cwd}: there is no such folder`);
  const store = given.store ?? process.env.CHASSIS_STORE;
  return {
    json: given.json === true,
    cwd,
    ...(store === undefined || store === '' ? {} : { store: storeFolder(store, cwd) }),
    config: given.config ?? [],
    plugins: given.plugin ?? [],
    trust: given.trust === true,
    safeMode: given.safeMode === true,
    debug: given.debug === true || Boolean(process.env.CHASSIS_DEBUG),
  };
}

function storeFolder(given: string, cwd: string): string {
  if (given.startsWith('file:')) {
    try {
      return fileURLToPath(given);
    } catch (cause) {
      throw usage(`--store ${given}: ${(cause as Error).message}; write file:///path/.chassis`);
    }
  }
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(given)?.[1];
  if (scheme !== undefined)
    throw usage(
      `--store ${given}: there is no store of kind ${scheme}; give the path of a folder, or file:///path`,
    );
  return resolve(cwd, given);
}

/** Commander's message as one line of ours. */
async function lineOf(error: CommanderError, program: Command, argv: readonly string[]): Promise<string> {
  const words = argv.filter((word) => !word.startsWith('-'));
  const family = program.commands.find(
    (command) => command.commands.length > 0 && words.includes(command.name()),
  );
  const names = (family ?? program).commands.map((command) => command.name());
  const list =
    family === undefined ? 'chassis --help lists them' : `chassis ${family.name()} has ${names.join(', ')}`;
  if (error.code === 'commander.help') {
    if (words[0] !== 'help') return `a command is missing: ${list}`;
    const { didYouMean } = await import('@chassis/schema');
    const wrong = words.find((word, at) => at > 0 && word !== family?.name()) ?? '';
    return `unknown command '${wrong}'${didYouMean(wrong, names)}; ${list}`;
  }
  const message = error.message.replace(/^error: /, '').replace(/\.$/, '');
  if (error.code === 'commander.unknownCommand' && !message.includes('Did you mean'))
    return `${message}; ${list}`;
  return message
    .replace(/\n\(Did you mean (one of )?(.*)\?\)$/s, (_, several, near) =>
      several ? `; did you mean one of ${near}?` : `; did you mean ${near}?`,
    )
    .replaceAll('\n', ' ');
}
