/** `chassis replay`: the agent's own code against the record. Without `--live` nothing else is touched and nothing is written. */
import { ExitCode } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import { demandWhole, type ReplayReport, replay } from '@chassis/runtime';
import { parseAddress, type StepName } from '../address.ts';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandAgent } from '../models.ts';
import { mark } from '../present/mark.ts';
import { coverageLines, divergenceLines } from '../present/replay.ts';
import { shortInput } from '../present/step-line.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { visible } from '../terminal/text.ts';
import { duration } from '../terminal/units.ts';
import { openWorkbench } from '../workbench.ts';
import type { LiveOptions } from './replay-live.ts';

export async function replaySession(call: Call<LiveOptions>): Promise<Ending> {
  const { options, globals, out } = call;
  const opened = await openAddress(call.args[0] ?? '', globals);
  const view = await opened.reader.view(undefined, { whole: true });
  demandWhole(view);
  const until = await untilOf(view, opened.address.step, options.until);
  if (options.live !== undefined || options.dry !== undefined) {
    if (options.speed !== undefined)
      throw usage('--speed is for a strict replay: what runs for real takes the time that it takes');
    try {
      return await (await import('./replay-live.ts')).replayLive(view, opened.name, until, call);
    } finally {
      await opened.close();
    }
  }
  refuseWithoutLive(options);
  const speed = options.speed === undefined ? undefined : speedOf(options.speed);
  const { agent } = view.header;
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({ globals, out, only: [agent.name], interrupts });
  const slow = setTimeout(() => {
    if (speed === undefined) out.progress(`replaying ${view.steps.length} steps…`);
  }, 1000);
  try {
    demandAgent(agent.agent, bench.registry);
    const now = bench.registry.plugins().find(({ name }) => name === agent.name);
    if (now !== undefined && now.digest !== agent.digest)
      out.note(
        `plugin ${agent.name} ${now.version} has other code than ${agent.version}, which the session was recorded with`,
      );
    const report = await replay(view, bench.registry, bench.secrets, interrupts.signal, {
      ...(until === undefined ? {} : { until }),
      ...(speed === undefined ? {} : { speed, onStep: (step) => out.progress(stepLine(step)) }),
    });
    for (const line of reportLines(report, opened.name, agent.name)) out.line(line);
    return {
      exit: report.ok ? ExitCode.ok : ExitCode.failed,
      result: { ...report, covered: report.coverage.recorded, started: [agent.name] },
    };
  } finally {
    clearTimeout(slow);
    await bench.close();
    interrupts.end();
    await opened.close();
  }
}

function reportLines(report: ReplayReport, name: string, plugin: string): string[] {
  const scope = [...coverageLines(report.coverage), `  started: ${plugin}, no other plugin`];
  const { divergence } = report;
  if (divergence === undefined) {
    const end =
      report.until !== undefined
        ? `, up to step ${report.until} as asked`
        : report.incomplete
          ? ', up to where the record ends'
          : '';
    return [
      `${mark('ok')} ${visible(name)} replays: ${plural(report.steps, 'step')} in ${plural(report.turns, 'turn')}${end}, no difference`,
      ...scope,
    ];
  }
  const { turn, step, path } = divergence;
  return [
    `${mark('failed')} ${visible(name)} diverges in turn ${turn}${step === null ? '' : ` at step ${step}`}${path === '' ? '' : ` ${visible(path)}`}`,
    ...divergenceLines(divergence),
    `  ${plural(report.steps, 'step')} agreed before that`,
    ...scope,
  ];
}

async function untilOf(
  view: SessionView,
  named: StepName | undefined,
  option: string | undefined,
): Promise<number | undefined> {
  const step = option === undefined ? named : parseAddress(`x:${option}`).step;
  return step === undefined ? undefined : stepNumber(view, step);
}

/** An option that would be ignored is refused. */
function refuseWithoutLive(options: LiveOptions): void {
  const given = (['except', 'files', 'save', 'approve', 'workspace', 'script'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (given !== undefined)
    throw usage(`--${given} needs --live or --dry: a strict replay runs nothing and writes nothing`);
}

/** `2` or `2x`: twice as fast as it was. */
function speedOf(text: string): number {
  const speed = Number(text.replace(/x$/i, ''));
  if (Number.isFinite(speed) && speed > 0) return speed;
  throw usage(`--speed ${text}: how many times as fast as it was, such as 1 or 10`);
}

function stepLine(step: Step): string {
  const { number, kind, name, status, duration_ms } = step;
  const took = duration_ms === undefined ? '' : `  ${duration(duration_ms)}`;
  return `${mark(status)} step ${number}  ${kind} ${visible(name)}${took}  ${shortInput(step)}`;
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
