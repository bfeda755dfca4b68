/** The turns and steps of a session as a table. */
import { type ErrorRecord, errorName } from '@chassis/errors';
import type { SessionView, Step, Turn } from '@chassis/journal';
import { paint } from '../terminal/screen.ts';
import { type Column, table } from '../terminal/table.ts';
import { truncate, visible, visibleLines, wrap } from '../terminal/text.ts';
import { duration } from '../terminal/units.ts';
import { lostLine } from './damage.ts';
import { inColourOf, mark } from './mark.ts';
import { shortInput, tokens } from './step-line.ts';
import { indent } from './value.ts';

/**
 * @param from the first step that is shown
 * @param ready nothing has run in the session yet: its last turn waits to go on
 */
export function timeline(
  view: SessionView,
  width: number | undefined,
  prose: number,
  from = 1,
  ready = false,
): string[] {
  const first = from === 1 ? 1 : (view.step(from)?.turn ?? 1);
  const shown = from === 1 ? view.steps : view.steps.slice(from - 1);
  const byTurn = Map.groupBy(shown, ({ turn }) => turn);
  return view.turns.slice(first - 1).flatMap((turn) => {
    const steps = byTurn.get(turn.number) ?? [];
    return [
      '',
      `${paint('bold', `turn ${turn.number}`)}  ${turn.lost === true && turn.input === '' ? lostLine('what began this turn') : truncate(visible(turn.input), prose - 10)}`,
      ...(steps.length === 0 ? ['  (no steps)'] : stepTable(steps, width)),
      ...turnEnd(turn, prose, ready),
    ];
  });
}

function stepTable(steps: readonly Step[], width: number | undefined): string[] {
  const statusOf = (row: number) => steps[row]?.status ?? 'ok';
  const columns: readonly Column[] = [
    { title: '#', align: 'right' },
    { title: 'kind' },
    { title: 'name', shrinkTo: 8 },
    { title: 'status', paint: (cell, row) => inColourOf(statusOf(row), cell) },
    { title: 'time', align: 'right', drop: 1 },
    { title: 'tries', align: 'right', drop: 4 },
    { title: 'tokens', align: 'right', drop: 2 },
    { title: 'plugin', shrinkTo: 8, drop: 3 },
    { title: 'input', shrinkTo: 10, drop: 5 },
  ];
  const rows = steps.map((step) => [
    `${'· '.repeat(depthOf(step, steps))}${step.number}`,
    step.kind,
    visible(step.name),
    step.status,
    step.duration_ms === undefined ? '' : duration(step.duration_ms),
    step.attempts.length > 1 ? String(step.attempts.length) : '',
    tokens(step.usage),
    step.plugin === null ? '' : visible(`${step.plugin.name} ${step.plugin.version}`),
    step.lost === true ? '' : shortInput(step),
  ]);
  const [head = '', ...lines] = table(columns, rows, width);
  return [paint('dim', head), ...lines];
}

/** How many steps this one runs inside of. */
function depthOf(step: Step, steps: readonly Step[]): number {
  // Only an earlier step can enclose one; a damaged log may say otherwise.
  const { parent } = step;
  const above =
    parent === null || parent >= step.number ? undefined : steps.find(({ number }) => number === parent);
  return above === undefined ? 0 : 1 + depthOf(above, steps);
}

function turnEnd(turn: Turn, prose: number, ready: boolean): string[] {
  if (turn.outcome === undefined && ready) return [`${mark('ready')} from here on nothing has run yet`];
  if (turn.outcome === undefined) return [`${mark('interrupted')} this turn has no end on record`];
  const lines = [`${mark(turn.outcome)} ${inColourOf(turn.outcome, turn.outcome)}`];
  if (turn.error !== undefined)
    lines[0] += ` ${turn.failed_step === undefined ? '' : `at step ${turn.failed_step} `}${errorLine(turn.error)}`;
  if (turn.answer !== undefined) lines.push(indent(wrap(visibleLines(turn.answer), prose - 2).join('\n')));
  return lines;
}

/** `InvalidParams: …` on one line. */
export function errorLine(error: ErrorRecord): string {
  return `${errorName(error.code)}: ${visible(error.message)}`;
}
