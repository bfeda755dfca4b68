/**
 * What a full-text search looks through: titles, what people wrote, what models said, names of tools, errors, notes. Tool
 * results are not among it: `ls --grep` looks through whole records.
 */
import type { Event, EventType, UnknownEvent } from './event.ts';

export type PassageKind = 'title' | 'input' | 'message' | 'tool' | 'error' | 'note';

export interface Passage {
  readonly kind: PassageKind;
  /** The step that says it, or that a note is about; a title or an input has none. */
  readonly step?: number;
  readonly text: string;
}

/** Something that was found. */
export interface SearchHit extends Passage {
  readonly session: string;
  readonly title: string;
  /** Sequence number of the event. */
  readonly seq: number;
}

/** Longest part of one text that is searched, in UTF-16 units. */
const LONGEST = 100_000;

const TELLING: ReadonlySet<string> = new Set<EventType>([
  'session.opened',
  'input.received',
  'step.started',
  'step.finished',
  'note.added',
]);

/** Whether an event of this type may have something to say. */
export function mayTell(type: string): boolean {
  return TELLING.has(type);
}

/** What an event says. */
export function passagesOf(unknown: Event | UnknownEvent): Passage[] {
  const event = unknown as Event;
  switch (event.type) {
    case 'session.opened':
      return passage('title', event.data.title);
    case 'input.received':
      return passage('input', event.data.content);
    case 'step.started':
      return event.data.kind === 'tool' ? passage('tool', event.data.name, event.step) : [];
    case 'step.finished': {
      const { output, error } = event.data;
      const { message } = (output ?? {}) as { message?: { role?: unknown; content?: unknown } };
      const said = message?.role === 'assistant' ? passage('message', message.content, event.step) : [];
      return [...said, ...passage('error', error?.message, event.step)];
    }
    case 'note.added':
      return passage('note', event.data.text, event.step);
    default:
      return [];
  }
}

function passage(kind: PassageKind, text: unknown, step?: number): Passage[] {
  if (typeof text !== 'string' || text.trim() === '') return [];
  const kept = text.slice(0, LONGEST);
  return [step === undefined ? { kind, text: kept } : { kind, step, text: kept }];
}

/** Words and "quoted phrases" of a query. */
export function termsOf(query: string): string[] {
  return [...query.matchAll(/"([^"]*)"?|(\S+)/g)]
    .map(([, phrase, word]) => (phrase ?? word ?? '').trim())
    .filter((term) => term !== '');
}

/** For a search without an index: whether every term stands in the text, whatever its case and accents. */
export function holdsAll(text: string, terms: readonly string[]): boolean {
  const folded = fold(text);
  return terms.every((term) => folded.includes(fold(term)));
}

/** The part of a text around the first term that stands in it. */
export function around(text: string, terms: readonly string[], length = 160): string {
  const folded = fold(text);
  const at = Math.max(0, ...terms.slice(0, 1).map((term) => folded.indexOf(fold(term))));
  // Folding may change lengths a little: the excerpt is for the eye.
  const start = Math.max(0, Math.min(at, text.length) - length / 4);
  const cut = text.slice(start, start + length).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut}${start + length < text.length ? '…' : ''}`
    .replace(/\s+/g, ' ')
    .trim();
}

function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
}

const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** Scripts without spaces between words: each of their characters becomes a word, and a phrase finds any run of them. */
export function spaced(text: string): string {
  return text.replace(IDEOGRAPH, ' $& ');
}
