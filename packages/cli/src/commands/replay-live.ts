/** `chassis replay --live …`: some boundaries for real, the others from the record. In memory, unless `--save`. */
import { resolve } from 'node:path';
import { diff } from '@chassis/analyze';
import { ExitCode } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import { type MixedReport, replayMixed, waysOf } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandAgent } from '../models.ts';
import { ownWorkspace } from '../own-workspace.ts';
import { mark } from '../present/mark.ts';
import { coverageLines, divergenceLines, driftLines } from '../present/replay.ts';
import { fullValue, indent, shortValue } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { modelsOf, scriptAgain, scriptOverrides } from '../script-option.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export interface LiveOptions {
  readonly live?: readonly string[];
  readonly dry?: readonly string[];
  readonly except?: readonly string[];
  readonly files?: string;
  readonly speed?: string;
  readonly until?: string;
  readonly save?: true;
  readonly approve?: readonly string[];
  readonly workspace?: string;
  readonly script?: string;
}

export async function replayLive(
  view: SessionView,
  name: string,
  until: number | undefined,
  { options, globals, out }: Call<LiveOptions>,
): Promise<Ending> {
  const { files } = options;
  if (files !== undefined && files !== 'recorded' && files !== 'live')
    throw usage(`--files ${files}: it is recorded or live`);
  if (files === 'recorded' && options.workspace !== undefined)
    throw usage('--files recorded makes a folder of its own, so --workspace has no place: give one of them');
  const script = scriptAgain(options.script, view.header, modelsOf(view), { cwd: globals.cwd, out });
  const interrupts = listenForInterrupts(out);
  const overrides = scriptOverrides(script, globals.cwd);
  const bench = await openWorkbench({ globals, out, overrides, interrupts });
  try {
    demandAgent(view.header.agent.agent, bench.registry);
    out.quiet = true;
    const workspace =
      files === 'recorded'
        ? (await ownWorkspace(view, 0, bench.store, globals)).folder
        : options.workspace && resolve(globals.cwd, options.workspace);
    const report = await replayMixed(view, bench.surroundings(new RunView(out, bench.secrets)), {
      live: options.live ?? [],
      dry: options.dry ?? [],
      except: options.except ?? [],
      approve: options.approve ?? [],
      ...(workspace === undefined ? {} : { workspace }),
      ...(until === undefined ? {} : { until }),
      save: options.save === true,
      signal: interrupts.signal,
    });
    const { view: made, ...told } = report;
    const compared = diff(view, made);
    for (const line of lines(report, name, compared)) out.line(line);
    if (files === 'recorded') out.line(`  worked in ${visible(workspace ?? '')}`);
    const difference = compared.first ?? compared.end;
    return {
      exit: report.ok ? ExitCode.ok : ExitCode.failed,
      result: { ...told, difference, workspace: made.header.workspace },
    };
  } finally {
    await bench.close();
    interrupts.end();
  }
}

/** Whether a name of `--live` is that of a model, or of a plugin that answers as one. */
function isModel(view: SessionView, name: string): boolean {
  return view.steps.some(
    (step) => step.kind === 'model' && (step.name === name || step.plugin?.name === name),
  );
}

function lines(report: MixedReport, name: string, compared: ReturnType<typeof diff>): string[] {
  const { steps, turns, divergence, coverage, plugins, made } = report;
  const last = turns.at(-1);
  const same = compared.first === null && compared.end === null;
  const ending = !same
    ? ', not the same as on record'
    : last?.outcome === undefined || last.outcome === 'ok'
      ? ''
      : ', as on record';
  const ways = visible(waysOf(report));
  const head =
    divergence === undefined
      ? `${mark(report.ok ? (same ? 'ok' : 'unknown') : 'failed')} ${visible(name)} with ${ways}: ${steps.live} step${steps.live === 1 ? '' : 's'} ran, ${steps.recorded} from the record, outcome ${last?.outcome ?? 'none'}${ending}`
      : `${mark('failed')} ${visible(name)} with ${ways} diverges${divergence.step === null ? '' : ` at step ${divergence.step}`}${divergence.path === '' ? '' : ` ${visible(divergence.path)}`}`;
  const first = compared.first;
  const answeredAnew = report.live.some((one) => one === 'model' || isModel(report.view, one));
  return [
    head,
    ...(divergence === undefined ? [] : divergenceLines(divergence)),
    ...(last?.answer === undefined ? [] : ['  answer', indent(fullValue(last.answer), 4)]),
    ...(last?.error === undefined ? [] : [`  ${visible(last.error.message)}`]),
    ...(divergence !== undefined
      ? []
      : same
        ? ['  no difference from the record']
        : first?.difference === undefined
          ? ['  the run differs from the record']
          : [
              `  first difference from the record: step ${first.a ?? first.b} ${visible(first.difference.path)}`,
              `    recorded ${shortValue(first.difference.expected ?? null, 100)}`,
              `    now      ${shortValue(first.difference.actual ?? null, 100)}`,
            ]),
    ...(divergence === undefined && !same && !answeredAnew && last?.answer !== undefined
      ? [
          '  the answer is the recorded one: no model has seen what differs; add --live model to ask it with that',
        ]
      : []),
    ...coverageLines(coverage),
    ...driftLines(plugins),
    made === null ? '  nothing was written; --save keeps it as a session' : `  saved as ${made}`,
  ];
}
