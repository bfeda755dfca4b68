/**
 * `chassis plugin bisect`: which of many plugins breaks the start, or a command.
 *
 * Promise: the check runs in a process of its own each time, so that a plugin that takes its process with it, or holds it for ever, is
 * found like any other. A plugin is never tried without those that it needs.
 */
import { spawn } from 'node:child_process';
import { ExitCode } from '@chassis/errors';
import { type Project, type Resolution, resolutionOf } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { mark } from '../present/mark.ts';
import { ONLY_PLUGINS, projectOf } from '../project.ts';
import type { Call, Ending, Globals } from '../reference/spec.ts';
import { smallestFailing } from '../smallest-failing.ts';
import { visible } from '../terminal/text.ts';
import { ensureTrust } from '../trust-question.ts';

interface Options {
  readonly timeout?: string;
}

interface Outcome {
  readonly failed: boolean;
  /** What it was, in one line. */
  readonly told: string;
}

export async function pluginBisect({ args, options, globals, out }: Call<Options>): Promise<Ending> {
  const timeoutMs = secondsOf(options.timeout) * 1000;
  const project = await projectOf(globals);
  await ensureTrust(project, globals, out);
  const { entries, broken } = project.catalogue;
  const suspects = [...entries, ...broken].filter(
    ({ enabled, origin }) => enabled && origin !== 'first-party',
  );
  const names = suspects.map(({ name }) => name);
  if (names.length === 0) throw usage('there are no plugins to look at but those that come with Chassis');
  const resolution = resolutionOf(project.catalogue);
  const outcomes = new Map<string, Outcome>();
  const fails = async (set: readonly string[]): Promise<boolean> => {
    const outcome = await check(closed(set, resolution, project), args, globals, timeoutMs);
    outcomes.set(set.join(), outcome);
    out.progress(
      visible(
        `${set.length === 0 ? 'none' : set.join(', ')}: ${outcome.failed ? `fails: ${outcome.told}` : 'works'}`,
      ),
    );
    return outcome.failed;
  };

  const what = args.length === 0 ? 'the start' : visible(args.join(' '));
  if (!(await fails(names))) {
    out.line(`${mark('ok')} ${what} works with all ${names.length} plugins: there is nothing to look for`);
    return { exit: ExitCode.failed, result: { culprits: null } };
  }
  if (await fails([])) {
    out.line(
      `${mark('failed')} ${what} fails without any of them too: ${visible(outcomes.get('')?.told ?? '')}`,
    );
    return { exit: ExitCode.failed, result: { culprits: [], told: outcomes.get('')?.told } };
  }
  const culprits = await smallestFailing(names, fails);
  const { told = '' } = outcomes.get(culprits.join()) ?? {};
  out.line(`${mark('failed')} ${what} fails with ${visible(culprits.join(' and '))}: ${visible(told)}`);
  for (const name of culprits)
    out.line(`  ${visible(name)} in ${visible(project.catalogue.find(name)?.folder ?? '')}`);
  out.line(`  to do: repair it, or leave it out: --config plugins.${culprits[0]}.enabled=false`);
  return { result: { culprits, told } };
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return 60;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw usage(`--timeout ${text}: it must be seconds, a whole number above 0`);
}

/** With those that they need, and those that come with Chassis. */
function closed(set: readonly string[], { needs }: Resolution, { catalogue }: Project): string[] {
  const ours = catalogue.entries.filter(({ origin }) => origin === 'first-party').map(({ name }) => name);
  const all = new Set(ours);
  const queue = [...set];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (all.has(name)) continue;
    all.add(name);
    queue.push(...(needs.get(name) ?? []).flatMap(({ anyOf }) => anyOf));
  }
  return [...all];
}

/** Runs the command, or a start of the plugins, with these alone. */
async function check(
  only: readonly string[],
  args: readonly string[],
  globals: Globals,
  timeoutMs: number,
): Promise<Outcome> {
  const start = [process.execPath, process.argv[1] ?? '', ...again(globals), 'plugin', 'ls', '--json'];
  const [program = '', ...rest] = args.length === 0 ? start : args;
  const child = spawn(program, rest, {
    cwd: globals.cwd,
    env: { ...process.env, [ONLY_PLUGINS]: only.join() },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout = `${stdout}${text}`.slice(-4_000_000);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-20_000);
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    end(child.pid);
  }, timeoutMs);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', (error) => reject(usage(`${program} cannot be run: ${error.message}`)));
    child.once('close', (...ended) => resolve(ended));
  }).finally(() => clearTimeout(timer));
  end(child.pid);
  if (late) return { failed: true, told: `it did not end within ${timeoutMs / 1000} s` };
  const last = stderr.trim().split('\n').at(-1) ?? '';
  if (code !== 0)
    return { failed: true, told: `${signal ?? `exit ${code}`}${last === '' ? '' : `: ${last}`}` };
  const problem = args.length === 0 ? problemIn(stdout) : undefined;
  return { failed: problem !== undefined, told: problem ?? '' };
}

/** The options that this command was given count for the start, too. */
function again({ store, config, plugins, debug }: Globals): string[] {
  return [
    ...(store === undefined ? [] : ['--store', store]),
    ...config.flatMap((pair) => ['--config', pair]),
    ...plugins.flatMap((path) => ['--plugin', path]),
    ...(debug ? ['--debug'] : []),
  ];
}

/** The first plugin that was meant to start and did not. */
function problemIn(stdout: string): string | undefined {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    const { problems } = JSON.parse(last) as {
      problems?: { capability: string; cause: { message: string } }[];
    };
    const [first] = problems ?? [];
    return first === undefined
      ? undefined
      : `${first.capability} is unavailable: ${first.cause.message.split('\n')[0]}`;
  } catch {
    return `no list of plugins came: ${last.slice(0, 200)}`;
  }
}

/** Whatever it has started is ended with it. */
function end(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
