/**
 * `chassis test run`: recorded sessions as regression tests.
 *
 * Promise: without `--mode` nothing is started but the plugins of the recorded agents, and nothing is written. A mode that
 * records asks the models and tools of the project for real, and replaces a recording only when the run ended.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { ExitCode, toChassisError } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import { CHASSIS_VERSION, Session } from '@chassis/runtime';
import { type Reporter, reporters, reportTests, runTest, type TestResult } from '@chassis/testkit';
import { usage } from '../failure.ts';
import { type Interrupts, listenForInterrupts } from '../interrupt.ts';
import { demandAgent, demandModel, modelOf } from '../models.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { visible } from '../terminal/text.ts';
import {
  type BrokenTest,
  mistakesIn,
  readTests,
  type TestFile,
  viewOf,
  writeRecording,
} from '../test-files.ts';
import { openWorkbench, type Workbench } from '../workbench.ts';

interface Options {
  readonly reporter?: string;
  readonly mode?: string;
  readonly approve?: readonly string[];
}

const modes = ['none', 'once', 'rewrite'] as const;

export async function testRun({ args, options, globals, out }: Call<Options>): Promise<Ending> {
  const reporter = options.reporter ?? 'text';
  if (!isOneOf(reporter, reporters))
    throw usage(`--reporter ${reporter}: it is one of ${reporters.join(', ')}`);
  const mode = options.mode ?? 'none';
  if (!isOneOf(mode, modes)) throw usage(`--mode ${mode}: it is one of ${modes.join(', ')}`);
  const { tests: found, broken: unreadable } = await readTests(args, globals.cwd);
  const broken = [...unreadable];
  const fails = (file: string, error: unknown): void => {
    broken.push({ file, error: toChassisError(error) });
  };
  const missing = new Set(found.filter(({ recording }) => !existsSync(recording)));
  const anew = mode === 'rewrite' ? new Set(found) : missing;
  const views = new Map<TestFile, SessionView>();
  for (const test of found) {
    if (mode === 'none' && missing.has(test))
      fails(test.file, usage(`${test.recording} is not there: chassis test run --mode once records it`));
    else if (!anew.has(test))
      await viewOf(test.recording).then(
        (view) => views.set(test, view),
        (error: unknown) => fails(test.file, error),
      );
  }
  const tests = found.filter((test) => views.has(test) || (mode !== 'none' && anew.has(test)));
  if (tests.length === 0) throw mistakesIn(broken);
  const agents = [...new Set([...views.values()].map((view) => view.header.agent.name))];
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({
    globals,
    out,
    interrupts,
    approve: anew.size > 0 ? options.approve : undefined,
    ...(anew.size > 0 ? {} : { only: agents }),
  });
  try {
    out.quiet = true;
    const results: TestResult[] = [];
    for (const test of tests) {
      if (anew.has(test)) await record(test, bench, interrupts, out);
      const view = views.get(test) ?? (await viewOf(test.recording));
      const file = relative(globals.cwd, test.file);
      try {
        demandAgent(view.header.agent.agent, bench.registry);
        results.push(await runTest(test.spec, file, view, bench.registry, interrupts.signal));
      } catch (error) {
        if (interrupts.signal.aborted) throw error;
        fails(test.file, error);
      }
    }
    if (results.length === 0) throw mistakesIn(broken);
    results.push(...broken.map((one) => unreadableTest(one, globals.cwd)));
    for (const line of reportTests(told(results), reporter as Reporter)) out.line(visible(line));
    const ok = results.every((result) => result.ok);
    return { exit: ok ? ExitCode.ok : ExitCode.failed, result: { tests: results } };
  } finally {
    await bench.close();
    interrupts.end();
  }
}

/** One that could not be run at all fails, and stops no other. */
function unreadableTest({ file, error }: BrokenTest, cwd: string): TestResult {
  const name = relative(cwd, file);
  const failure = { path: 'file', message: error.message, expected: null, actual: null };
  return { name, file: name, ok: false, failures: [failure], steps: 0 };
}

/** Tests of one name are told apart by their files: a report is read by what has no other way to. */
function told(results: readonly TestResult[]): readonly TestResult[] {
  const named = Map.groupBy(results, ({ name }) => name);
  return results.map((result) =>
    named.get(result.name)?.length === 1 ? result : { ...result, name: `${result.name} (${result.file})` },
  );
}

/** Runs the test's turns for real and keeps the session as its recording. */
async function record(
  { spec, recording, file }: TestFile,
  bench: Workbench,
  interrupts: Interrupts,
  out: Call['out'],
): Promise<void> {
  if (spec.input.length === 0) throw usage(`${file}: input is empty, so there is nothing to record`);
  const { project, registry, settings, store } = bench;
  const model = modelOf(undefined, project);
  const agent = project.config.agent.use;
  demandAgent(agent, registry);
  demandModel(model, registry);
  const session = await Session.create(bench.surroundings(new RunView(out, bench.secrets)), {
    title: spec.name,
    workspace: project.config.workspace,
    project: project.root,
    chassis: CHASSIS_VERSION,
    agent,
    model,
    settings,
  });
  const cancel = (): void => session.cancel();
  interrupts.signal.addEventListener('abort', cancel, { once: true });
  try {
    for (const words of spec.input) if ((await session.prompt(words)).outcome !== 'ok') break;
  } finally {
    interrupts.signal.removeEventListener('abort', cancel);
    await session.close();
  }
  if (session.view.outcome !== 'cancelled') await writeRecording(store, session.id, recording);
}

function isOneOf<T extends string>(text: string, known: readonly T[]): text is T {
  return known.includes(text as T);
}
