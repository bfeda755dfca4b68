/** A session at a glance: where it came from, how it went, and each of its steps in a line. */
import type { SessionSummary, SessionView } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { paint, proseWidth, screenWidth } from '../terminal/screen.ts';
import { cells, truncate, visible } from '../terminal/text.ts';
import { bytes, count, duration, moment, money } from '../terminal/units.ts';
import { forkedBehind } from './fork-place.ts';
import { inColourOf, mark } from './mark.ts';
import { nextLines } from './next-commands.ts';
import { totals } from './step-line.ts';
import { timeline } from './timeline.ts';

/** Whether a session without an end is running is the store's word: only it can see the lock. */
function outcomeOf(view: SessionView, summary: SessionSummary | undefined): SessionSummary['outcome'] {
  if (view.outcome !== 'running') return view.outcome;
  return summary?.outcome === 'running' || summary?.outcome === 'ready' ? summary.outcome : 'interrupted';
}

/** @param name the session as a person can type it again */
export function sessionLines(view: SessionView, name: string, summary: SessionSummary | undefined): string[] {
  const { header, steps } = view;
  const outcome = outcomeOf(view, summary);
  const { input, output, cost_usd } = totalsOf(view, summary);
  const last = steps.findLast((step) => step.duration_ms !== undefined);
  const took = last === undefined ? 0 : last.started + (last.duration_ms ?? 0) - header.created;
  const facts = [
    `${steps.length} step${steps.length === 1 ? '' : 's'}`,
    input + output === 0 ? '' : `${count(input)}→${count(output)} tokens`,
    money(cost_usd),
    duration(took),
    summary === undefined ? '' : bytes(summary.bytes),
  ];
  const width = screenWidth();
  const fit = (line: string): string => (width === undefined ? line : truncate(line, width));
  const lines = [
    `${mark(outcome)} ${paint('bold', visible(name))}  ${inColourOf(outcome, outcome)}  ${titleOf(view, name, outcome, width)}`,
    fit(`  ${moment(header.created)}  ${facts.filter((fact) => fact !== '').join(' · ')}`),
    fit(
      visible(
        `  model ${header.model.name} · agent ${header.agent.agent} (${header.agent.name} ${header.agent.version})`,
      ),
    ),
    fit(visible(`  workspace ${header.workspace}`)),
    fit(
      visible(
        `  plugins ${header.plugins.map((plugin) => `${plugin.name} ${plugin.version}`).join(', ') || 'none'}`,
      ),
    ),
  ];
  if (header.parent !== undefined)
    lines.push(`  forked from ${visible(header.parent.session)} ${forkedBehind(header.parent.step)}`);
  const first = firstShown(view, LAST_STEPS);
  if (first > 1)
    lines.push(
      '',
      paint(
        'dim',
        `  steps 1 to ${first - 1} are not listed: chassis show ${visible(name)}:STEP, chassis log ${visible(name)}`,
      ),
    );
  lines.push(...timeline(view, width, proseWidth(), first, outcome === 'ready'));
  for (const note of view.notes)
    lines.push(
      `note by ${visible(note.author)}${note.step === undefined ? '' : ` on step ${note.step}`}: ${visible(note.text)}`,
    );
  lines.push('', ...nextLines(view, name, outcome).map((line) => paint('dim', line)));
  return lines;
}

/** Steps of a long session that are listed, for people and as data. */
const LAST_STEPS = 20;
const LAST_RECORDS = 1000;

/** The first step that is listed: of a long session only the last ones are, so that nobody waits for all the others. */
function firstShown({ marks, steps }: SessionView, last: number): number {
  return marks === undefined || steps.length <= LAST_RECORDS ? 1 : steps.length - last + 1;
}

/** What the steps used; of a long session what was counted while it was written. */
function totalsOf(view: SessionView, summary: SessionSummary | undefined): ReturnType<typeof totals> {
  if (summary === undefined || firstShown(view, LAST_STEPS) === 1) return totals(view.steps);
  return { ...summary.tokens, cost_usd: summary.cost_usd };
}

/** The title, in what the line has left for it. */
function titleOf({ header }: SessionView, name: string, outcome: string, width: number | undefined): string {
  const title = visible(header.title);
  return width === undefined ? title : truncate(title, width - cells(visible(name)) - outcome.length - 6);
}

/** The same as data; inputs and outputs of the steps are left to `show ID:N`. */
export function sessionRecord(view: SessionView, summary: SessionSummary | undefined): JsonObject {
  const { header, notes } = view;
  const first = firstShown(view, LAST_RECORDS);
  const turns = first === 1 ? view.turns : view.turns.slice((view.step(first)?.turn ?? 1) - 1);
  const steps = first === 1 ? view.steps : view.steps.slice(first - 1);
  return {
    id: header.id,
    title: header.title,
    outcome: outcomeOf(view, summary),
    header,
    turns: turns.map(({ tools, ...turn }) => ({ ...turn, tools: tools?.map((tool) => tool.name) ?? [] })),
    steps: steps.map((step) => ({
      number: step.number,
      kind: step.kind,
      name: step.name,
      status: step.status,
      turn: step.turn,
      agent: step.agent,
      parent: step.parent,
      causes: step.causes,
      plugin: step.plugin,
      started: step.started,
      duration_ms: step.duration_ms ?? null,
      attempts: step.attempts.length,
      usage: step.usage ?? null,
      error: step.error ?? null,
      effects: step.effects.length,
    })),
    ...(first === 1 ? {} : { steps_before: first - 1 }),
    totals: totalsOf(view, summary),
    notes,
  } as unknown as JsonObject;
}
