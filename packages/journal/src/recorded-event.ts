/** An event with a large member, as its writer gives it out: its data are read back from the line when somebody looks. */
import type { Json } from '@chassis/types';
import type { Event } from './event.ts';
import { type Lazy, lazyMember } from './lazy.ts';

export class RecordedEvent {
  declare readonly v: Event['v'];
  declare readonly session: string;
  declare readonly seq: number;
  declare readonly time: number;
  declare readonly type: string;
  declare readonly step?: number;
  declare readonly data: Json;
  declare readonly hash: string;
  readonly #data: Lazy;

  static readonly #member = lazyMember((event: RecordedEvent) => event.#data);

  constructor({ v, session, seq, time, type, step, hash }: Event, data: Lazy) {
    this.#data = data;
    this.v = v;
    this.session = session;
    this.seq = seq;
    this.time = time;
    this.type = type;
    if (step !== undefined) this.step = step;
    Object.defineProperty(this, 'data', RecordedEvent.#member);
    this.hash = hash;
  }
}
