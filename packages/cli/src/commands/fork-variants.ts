/**
 * `chassis fork --n K`, `--model a --model b`, `--verify COMMAND`: the same fork several times, one after another.
 *
 * Promise: each variant works in a folder of its own, with the files as they were at the step; the original and its folder
 * stay as they are.
 */
import { spawn } from 'node:child_process';
import { cost } from '@chassis/analyze';
import { ExitCode } from '@chassis/errors';
import { Session } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { type ForkOptions, forkScript, modelFor, type Planned, separated } from '../fork-plan.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandModel } from '../models.ts';
import { shortValue } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptOverrides } from '../script-option.ts';
import { screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { count, money } from '../terminal/units.ts';
import { openWorkbench, tellProblems } from '../workbench.ts';

interface Variant {
  readonly session: string;
  readonly model: string;
  readonly outcome: string;
  readonly steps: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly workspace: string;
  /** Exit code of `--verify`; null without it. */
  readonly verify: number | null;
}

export async function forkVariants(call: Call<ForkOptions>, planned: Planned): Promise<Ending> {
  const { options, globals, out } = call;
  const times = timesOf(options.n);
  const script = forkScript(options, planned, globals.cwd, out);
  const overrides = scriptOverrides(script, globals.cwd);
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({ globals, out, overrides, approve: options.approve, interrupts });
  try {
    tellProblems(bench, out);
    const models = (options.model ?? [undefined]).map((name) =>
      modelFor(name, options.param, planned, bench.project),
    );
    for (const model of models) if (model !== undefined) demandModel(model, bench.registry);
    const variants: Variant[] = [];
    out.quiet = true;
    for (const model of models.flatMap((one) => Array.from({ length: times }, () => one))) {
      if (interrupts.signal.aborted) break;
      const request = await separated(planned, bench.store, globals, out);
      const session = await Session.fork(bench.surroundings(new RunView(out, bench.secrets)), {
        ...request,
        ...(model === undefined ? {} : { model }),
        ...(script === undefined ? {} : { script }),
      });
      const cancel = (): void => session.cancel();
      interrupts.signal.addEventListener('abort', cancel, { once: true });
      const result = await (request.message === undefined
        ? session.resume()
        : session.prompt(request.message));
      interrupts.signal.removeEventListener('abort', cancel);
      await session.close();
      const spent = cost(session.view).total;
      const workspace = request.workspace ?? '';
      variants.push({
        session: session.id,
        model: session.view.steps.findLast((step) => step.kind === 'model')?.name ?? '',
        outcome: result.outcome,
        steps: session.view.steps.length,
        tokens: { input: spent.input, output: spent.output },
        cost_usd: spent.cost_usd ?? null,
        answer: result.answer ?? null,
        error: result.error?.message ?? null,
        workspace,
        verify:
          options.verify === undefined ? null : await exitCode(options.verify, workspace, interrupts.signal),
      });
    }
    for (const line of lines(variants)) out.line(line);
    const good = variants.every(({ outcome, verify }) => outcome === 'ok' && (verify ?? 0) === 0);
    return { exit: good ? ExitCode.ok : ExitCode.failed, result: { variants } };
  } finally {
    await bench.close();
    interrupts.end();
  }
}

function timesOf(text: string | undefined): number {
  if (text === undefined) return 1;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw usage(`--n ${text}: it must be a whole number from 1 to 999`);
  return Number(text);
}

/** The command as the person typed it, in the variant's folder; its output goes to stderr, where progress goes. */
function exitCode(command: string, cwd: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { cwd, shell: true, stdio: ['ignore', 2, 2], signal });
    child.on('error', (error) => (signal.aborted ? resolve(ExitCode.interrupted) : reject(error)));
    child.on('close', (code) => resolve(code ?? ExitCode.failed));
  });
}

function lines(variants: readonly Variant[]): string[] {
  const verified = variants.some(({ verify }) => verify !== null);
  const rows = variants.map(({ session, model, outcome, steps, tokens, cost_usd, answer, error, verify }) => [
    session,
    model,
    outcome,
    ...(verified ? [verify === 0 ? 'passed' : `exit ${verify}`] : []),
    String(steps),
    `${count(tokens.input)}→${count(tokens.output)}`,
    money(cost_usd),
    shortValue(answer ?? error ?? '', 80),
  ]);
  return table(
    [
      { title: 'fork' },
      { title: 'model', shrinkTo: 8 },
      { title: 'outcome' },
      ...(verified ? [{ title: 'verify' }] : []),
      { title: 'steps', align: 'right' as const },
      { title: 'tokens', drop: 1 },
      { title: 'cost', drop: 2 },
      { title: 'answer', shrinkTo: 10 },
    ],
    rows,
    screenWidth(),
  );
}
