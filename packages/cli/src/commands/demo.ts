/**
 * `chassis demo`: the incident of `examples/incident`, from the failure to the fix that is proven on the same run.
 *
 * Promise: every line between the headings comes from the command that stands above it, run as a process of its own;
 * nothing is played back. It ends with 0 only if each of them did what the story says.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { Why } from '@chassis/analyze';
import { ChassisError, ExitCode } from '@chassis/errors';
import type { Output } from '../output.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint } from '../terminal/screen.ts';

const task = 'Report the average order value of the last three days.';

/** What a person who knows the shop reads in the two odd amounts: a German number, and an order that was called off. */
const corrections = new Map<unknown, string>([
  ['1.249,90', '1249.90'],
  ['N/A', 'null'],
]);

export async function demo({ globals, out }: Call): Promise<Ending> {
  const chassis = commandsIn(
    exampleFolder(),
    globals.store ?? join(globals.cwd, '.chassis'),
    out,
    globals.json,
  );

  out.line(paint('bold', '1  Two in the morning: the nightly report fails.'));
  await chassis(['run', '--trust', task], ExitCode.failed);

  out.line(paint('bold', '2  Why? The record is asked, not a model.'));
  await chassis(['why', '@failed'], ExitCode.ok);
  const found = JSON.parse(lastLine(await chassis.quietly(['why', '@failed', '--json']))) as Why;
  const edits = editsFor(found);

  out.line(
    paint(
      'bold',
      '3  The fix, on that same run: fork behind that step with the amounts set right, and go on.',
    ),
  );
  await chassis(['fork', '@failed:cause', ...edits, '--run'], ExitCode.ok);

  out.line(paint('bold', '4  Both runs again, from their records alone: no model, no tool, no network.'));
  await chassis(['replay', '@failed'], ExitCode.ok);
  await chassis(['replay', '@last'], ExitCode.ok);

  out.line(paint('bold', 'Look further'));
  for (const [command, about] of further)
    out.line(`  npx chassis ${command.padEnd(22)} ${paint('dim', about)}`);
  return { result: { failed: found.run.session, cause: found.cause?.step ?? null } };
}

const further = [
  ['show @failed', 'every step, with what went in and what came out'],
  ['show @failed:cause', 'the step where it began'],
  ['diff @failed @last', 'where the two runs part'],
  ['log @last', 'the events themselves'],
  ['verify @last', 'that nobody changed them'],
] as const;

interface Commands {
  /** Shows the command, runs it for all to see, and checks how it ended. */
  (args: readonly string[], expected: number): Promise<void>;
  /** What it prints on stdout. */
  quietly(args: readonly string[]): Promise<string>;
}

function commandsIn(cwd: string, store: string, out: Output, json: boolean): Commands {
  const launcher = join(import.meta.dirname, '../../bin/chassis.mjs');
  const start = (args: readonly string[], stdout: 'inherit' | 'pipe') =>
    spawn(process.execPath, [launcher, ...args], {
      cwd,
      env: { ...process.env, CHASSIS_STORE: store },
      stdio: ['ignore', stdout, 'inherit'],
    });
  const shown = async (args: readonly string[], expected: number): Promise<void> => {
    out.line(paint('dim', `$ chassis ${args.map(quoted).join(' ')}`));
    await out.flushed();
    const child = start([...args, ...(json ? ['--json'] : [])], 'inherit');
    const exit = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (exit !== expected)
      throw new ChassisError(
        'InternalError',
        `chassis ${args[0]} ended with exit code ${exit} where the story needs ${expected}, in ${relative(process.cwd(), cwd) || '.'}`,
      );
    out.line('');
  };
  return Object.assign(shown, {
    quietly: async (args: readonly string[]) => textOf(start(args, 'pipe').stdout as NodeJS.ReadableStream),
  });
}

/** `--set` for each odd amount that `why` found in the step where it began. */
function editsFor({ cause, also, others }: Why): string[] {
  if (cause === undefined) throw new ChassisError('InternalError', 'why found no cause in the incident');
  const suspects = [cause, ...also, ...others].filter(
    ({ step, pointer, value }) => step === cause.step && pointer !== undefined && corrections.has(value),
  );
  const edits = new Map(
    suspects.map(({ pointer, value }) => [pointer ?? '', corrections.get(value) ?? 'null']),
  );
  return [...edits].flatMap(([pointer, value]) => ['--set', `${pointer}=${value}`]);
}

/** `examples/incident` of the checkout, or the copy that a published package brings along. */
function exampleFolder(): string {
  const places = ['../../../../examples/incident', '../../examples/incident'].map((path) =>
    join(import.meta.dirname, path),
  );
  const found = places.find((place) => existsSync(join(place, 'chassis.yaml')));
  if (found !== undefined) return found;
  throw new ChassisError(
    'Unavailable',
    'the example project of the demo is not there: run it in a checkout of Chassis',
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** As one would type it in a shell. */
function quoted(word: string): string {
  return /^[\w@:./=-]+$/.test(word) ? word : word.includes("'") ? JSON.stringify(word) : `'${word}'`;
}
