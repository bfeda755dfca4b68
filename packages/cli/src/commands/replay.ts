/** `chassis replay`: the agent's own code against the record. Nothing else is touched, nothing is written. */
import { ExitCode } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import { type ReplayReport, replay } from '@chassis/runtime';
import { listenForInterrupts } from '../interrupt.ts';
import { demandAgent } from '../models.ts';
import { mark } from '../present/mark.ts';
import { fullValue, indent } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress } from '../sessions.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export async function replaySession({ args: [text = ''], globals, out }: Call): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const view = await opened.reader.view();
  const { agent } = view.header;
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({ globals, out, only: [agent.name], interrupts });
  const slow = setTimeout(() => out.progress(`replaying ${view.steps.length} steps…`), 1000);
  try {
    demandAgent(agent.agent, bench.registry);
    const now = bench.registry.plugins().find(({ name }) => name === agent.name);
    if (now !== undefined && now.digest !== agent.digest)
      out.note(
        `plugin ${agent.name} ${now.version} has other code than ${agent.version}, which the session was recorded with`,
      );
    const report = await replay(view, bench.registry, bench.secrets, interrupts.signal);
    const covered = coverage(view);
    for (const line of reportLines(report, opened.name, covered, agent.name)) out.line(line);
    return {
      exit: report.ok ? ExitCode.ok : ExitCode.failed,
      result: { ...report, covered, started: [agent.name] },
    };
  } finally {
    clearTimeout(slow);
    await bench.close();
    interrupts.end();
    await opened.close();
  }
}

/** What came from the record, by kind. */
function coverage(view: SessionView): Readonly<Record<string, number>> {
  const kinds = Object.fromEntries(
    (['model', 'tool', 'state'] as const).map((kind) => [
      kind,
      view.steps.filter((step) => step.kind === kind).length,
    ]),
  );
  const values = Object.fromEntries(
    (['now', 'random', 'uuid'] as const).map((name) => [
      name,
      view.values.filter((read) => read.name === name).length,
    ]),
  );
  return { ...kinds, ...values };
}

const words: Readonly<Record<string, string>> = {
  model: 'model call',
  tool: 'tool call',
  state: 'state change',
  now: 'read of the clock',
  random: 'random number',
  uuid: 'uuid',
};

function reportLines(
  report: ReplayReport,
  name: string,
  covered: Readonly<Record<string, number>>,
  plugin: string,
): string[] {
  const from = Object.entries(covered)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => plural(number, words[kind] ?? kind));
  const scope = `  from the record: ${from.join(', ') || 'nothing'}; started: ${plugin}, no other plugin`;
  const { divergence } = report;
  if (divergence === undefined) {
    const end = report.incomplete ? ', up to where the record ends' : '';
    return [
      `${mark('ok')} ${visible(name)} replays: ${plural(report.steps, 'step')} in ${plural(report.turns, 'turn')}${end}, no difference`,
      scope,
    ];
  }
  const { turn, step, path, expected, actual, message } = divergence;
  return [
    `${mark('failed')} ${visible(name)} diverges in turn ${turn}${step === null ? '' : ` at step ${step}`}${path === '' ? '' : ` ${visible(path)}`}`,
    `  ${visible(message)}`,
    '  expected',
    indent(fullValue(expected), 4),
    '  actual',
    indent(fullValue(actual), 4),
    `  ${plural(report.steps, 'step')} agreed before that`,
    scope,
  ];
}

function plural(number: number, word: string): string {
  if (word === 'read of the clock') return `${number} read${number === 1 ? '' : 's'} of the clock`;
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
