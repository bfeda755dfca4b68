/** A session at a glance: where it came from, how it went, and each of its steps in a line. */
import type { SessionSummary, SessionView } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { paint, proseWidth, screenWidth } from '../terminal/screen.ts';
import { cells, truncate, visible } from '../terminal/text.ts';
import { bytes, count, duration, moment, money } from '../terminal/units.ts';
import { inColourOf, mark } from './mark.ts';
import { nextLines } from './next-commands.ts';
import { totals } from './step-line.ts';
import { timeline } from './timeline.ts';

/** Whether a session without an end is running is the store's word: only it can see the lock. */
function outcomeOf(view: SessionView, summary: SessionSummary | undefined): SessionSummary['outcome'] {
  if (view.outcome !== 'running') return view.outcome;
  return summary?.outcome === 'running' ? 'running' : 'interrupted';
}

/** @param name the session as a person can type it again */
export function sessionLines(view: SessionView, name: string, summary: SessionSummary | undefined): string[] {
  const { header, steps } = view;
  const outcome = outcomeOf(view, summary);
  const { input, output, cost_usd } = totals(steps);
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
    lines.push(`  forked from ${visible(header.parent.session)} behind step ${header.parent.step}`);
  lines.push(...timeline(view, width, proseWidth()));
  for (const note of view.notes) lines.push(`note by ${visible(note.author)}: ${visible(note.text)}`);
  lines.push('', ...nextLines(view, name, outcome).map((line) => paint('dim', line)));
  return lines;
}

/** The title, in what the line has left for it. */
function titleOf({ header }: SessionView, name: string, outcome: string, width: number | undefined): string {
  const title = visible(header.title);
  return width === undefined ? title : truncate(title, width - cells(visible(name)) - outcome.length - 6);
}

/** The same as data; inputs and outputs of the steps are left to `show ID:N`. */
export function sessionRecord(view: SessionView, summary: SessionSummary | undefined): JsonObject {
  const { header, turns, steps, notes } = view;
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
    totals: totals(steps),
    notes,
  } as unknown as JsonObject;
}
