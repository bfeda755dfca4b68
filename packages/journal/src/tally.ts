/** What a listing says about a session, counted event by event, so that a list never has to read a log twice. */
import type { Usage } from '@chassis/types';
import type { Event, EventType, Outcome, SessionHeader, UnknownEvent } from './event.ts';
import type { LineHead } from './line-head.ts';

/** Plain data: it is kept in the index. */
export interface Tallied {
  readonly updated: number;
  /** `ready`: nothing has run in it yet. */
  readonly outcome: 'ready' | 'running' | Outcome;
  readonly steps: number;
  readonly seq: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number | null;
}

/** Events that a tally must see whole; of all others the head is enough. */
const TELLING: ReadonlySet<string> = new Set<EventType>([
  'input.received',
  'step.finished',
  'step.attempt',
  'session.forked',
  'session.resumed',
  'session.ended',
]);

export class Tally {
  #updated: number;
  #outcome: Tallied['outcome'];
  #steps: number;
  #seq: number;
  #input = 0;
  #output = 0;
  #cost: number | null = null;

  constructor(header: SessionHeader, before?: Tallied) {
    this.#updated = before?.updated ?? header.created;
    this.#outcome = before?.outcome ?? 'ready';
    this.#steps = before?.steps ?? header.parent?.step ?? 0;
    this.#seq = before?.seq ?? header.parent?.seq ?? -1;
    this.#input = before?.tokens.input ?? 0;
    this.#output = before?.tokens.output ?? 0;
    this.#cost = before?.cost_usd ?? null;
  }

  /** Whether `add` needs the event itself, not only its head. */
  static needs(type: string): boolean {
    return TELLING.has(type);
  }

  add(head: LineHead, event?: Event | UnknownEvent): void {
    this.#updated = head.time;
    this.#seq = Math.max(this.#seq, head.seq);
    if (head.type === 'step.started') {
      this.#steps = Math.max(this.#steps, head.step ?? this.#steps + 1);
      if (this.#outcome === 'ready') this.#outcome = 'running';
    }
    const known = event as Event | undefined;
    switch (known?.type) {
      case 'session.forked':
        this.#outcome = 'ready';
        break;
      case 'input.received':
      case 'session.resumed':
        this.#outcome = 'running';
        break;
      case 'session.ended':
        this.#outcome = known.data.outcome;
        break;
      case 'step.finished':
      case 'step.attempt':
        this.#count(known.data.usage);
        break;
      default:
        break;
    }
  }

  value(): Tallied {
    return {
      updated: this.#updated,
      outcome: this.#outcome,
      steps: this.#steps,
      seq: this.#seq,
      tokens: { input: this.#input, output: this.#output },
      cost_usd: this.#cost,
    };
  }

  #count(usage: Usage | null | undefined): void {
    if (!usage) return;
    this.#input += usage.input;
    this.#output += usage.output;
    if (usage.cost_usd !== undefined) this.#cost = (this.#cost ?? 0) + usage.cost_usd;
  }
}

/** The listing's word for a session's state: what is on record, and whether somebody is at work. */
export function listedOutcome(tallied: Tallied, alive: boolean): Tallied['outcome'] {
  if (tallied.outcome !== 'running') return alive ? 'running' : tallied.outcome;
  return alive ? 'running' : 'interrupted';
}
