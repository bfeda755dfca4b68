/** An event of the log in one line. Types that this version does not know are shown as unknown, with their data. */

import { errorName } from '@chassis/errors';
import type { Event, EventType, UnknownEvent } from '@chassis/journal';
import { paint } from '../terminal/screen.ts';
import { truncate, visible } from '../terminal/text.ts';
import { duration } from '../terminal/units.ts';
import { forkedBehind } from './fork-place.ts';
import { tokens } from './step-line.ts';
import { shortValue } from './value.ts';

/** @param event a parsed line, or the text of one that is no JSON */
export function eventText(event: Event | UnknownEvent | string, width: number | undefined): string[] {
  const fit = (line: string): string => (width === undefined ? line : truncate(line, width));
  if (typeof event === 'string') return [fit(`(damaged line) ${visible(event.slice(0, 400))}`)];
  const time = new Date(event.time);
  const clock = Number.isNaN(time.getTime()) ? '--:--:--.---' : time.toISOString().slice(11, 23);
  const step = event.step === undefined ? '' : `:${event.step}`;
  const head = `${String(event.seq).padStart(5)}  ${clock}  ${step.padStart(5)}  `;
  const [label, detail] = isKnown(event)
    ? [event.type, detailOf(event)]
    : [`unknown ${visible(String(event.type))}`, shortValue(event.data, 200)];
  const line = fit(`${head}${label.padEnd(18)}  ${detail}`.trimEnd());
  // The colour comes after the cut: it must not be cut itself.
  return [line.startsWith(head) ? paint('dim', head) + line.slice(head.length) : line];
}

const known: Readonly<Record<EventType, true>> = {
  'session.opened': true,
  'input.received': true,
  'step.started': true,
  'step.chunk': true,
  'step.dispatched': true,
  'value.read': true,
  'step.attempt': true,
  'step.finished': true,
  'approval.requested': true,
  'approval.resolved': true,
  'plugin.changed': true,
  'snapshot.taken': true,
  'note.added': true,
  'session.forked': true,
  'session.resumed': true,
  'session.repaired': true,
  'session.ended': true,
};

function isKnown(event: Event | UnknownEvent): event is Event {
  return Object.hasOwn(known, event.type) && typeof event.data === 'object' && event.data !== null;
}

function detailOf(event: Event): string {
  switch (event.type) {
    case 'session.opened':
      return visible(`${event.data.id} "${event.data.title}" model ${event.data.model?.name}`);
    case 'input.received':
      return `turn ${event.data.turn}: ${shortValue(event.data.content, 160)}`;
    case 'step.started':
      return `${event.data.kind} ${visible(event.data.name)} ${event.data.kind === 'model' ? '' : shortValue(event.data.input, 120)}`;
    case 'step.chunk':
      return shortValue(event.data.text ?? event.data.reasoning ?? event.data.tool_calls, 160);
    case 'step.dispatched':
      return `attempt ${event.data.attempt}${event.data.model === undefined ? '' : ` to ${visible(event.data.model)}`}`;
    case 'value.read':
      return `${event.data.name} = ${shortValue(event.data.value, 80)}`;
    case 'step.attempt':
      return `attempt ${event.data.attempt} failed, ${errorText(event.data.error)}; waited ${duration(event.data.wait_ms)}`;
    case 'step.finished': {
      const { status, duration_ms, usage, output, error } = event.data;
      const result = error === undefined ? shortValue(output, 120) : errorText(error);
      return [status, duration(duration_ms), tokens(usage), result].filter((part) => part !== '').join('  ');
    }
    case 'approval.requested':
      return `${visible(event.data.tool)} ${shortValue(event.data.input, 120)}`;
    case 'approval.resolved':
      return visible(`${event.data.decision} by ${event.data.by}`);
    case 'plugin.changed':
      return visible(`${event.data.plugin} ${event.data.change}: ${event.data.reason}`);
    case 'snapshot.taken':
      return visible(event.data.state);
    case 'note.added':
      return visible(`${event.data.author}: ${event.data.text}`);
    case 'session.forked':
      return `from ${visible(event.data.parent.session)} ${forkedBehind(event.data.parent.step)}, ${event.data.edits.length} edit${event.data.edits.length === 1 ? '' : 's'}`;
    case 'session.resumed':
      return visible(`${event.data.reason}; runs again: ${event.data.rerun.join(', ') || 'nothing'}`);
    case 'session.repaired':
      return `${event.data.problems.length} problem(s), steps closed: ${event.data.steps.join(', ') || 'none'}`;
    case 'session.ended': {
      const { outcome, answer, error } = event.data;
      return `${outcome}  ${error === undefined ? shortValue(answer, 160) : errorText(error)}`.trimEnd();
    }
  }
}

function errorText(error: { readonly code: number; readonly message: string }): string {
  return `${errorName(error.code)}: ${shortValue(error.message, 160)}`;
}
