/**
 * The writer of a session, whatever it is kept on: takes sequence numbers, chains lines, keeps the fold up to date.
 *
 * Promise: an event is in the view exactly when it is in the log's order; what cannot be logged is refused before it
 * takes a number; a secret does not get through in two pieces of a stream.
 */
import { ChassisError } from '@chassis/errors';
import type { Resolve } from './blob-ref.ts';
import { DataCodec, type KeepBlob } from './data-codec.ts';
import type { BlobRef, Event, EventData, EventType, SessionHeader } from './event.ts';
import type { Fold } from './fold.ts';
import { Kept } from './lazy.ts';
import { LineEncoder } from './line.ts';
import { RecordedEvent } from './recorded-event.ts';
import type { Secrets } from './secrets.ts';
import type { SessionView } from './step.ts';
import type { Writer } from './store.ts';
import type { Tally } from './tally.ts';
import { FORMAT_VERSION } from './upgrade.ts';

/** Where lines stand one after the other. */
export interface Page {
  readonly bytes: Buffer;
  /** The end of the last line, with its newline. */
  used: number;
  /** Set by who reads in it later: what stands there stays as it is. */
  kept: boolean;
}

/** Where lines and blobs go. */
export interface Sink {
  readonly failed: Error | undefined;
  /** The last event that can be read from where lines go, −1 while there is none. */
  readonly written: number;
  /** Takes a line with its newline and answers the page on which it is now the last one. The bytes are valid during the call only. */
  write(line: Buffer, seq: number): Page;
  readonly keepBlob: KeepBlob;
  readonly resolve: Resolve;
  barrier(): Promise<void>;
  close(): Promise<void>;
}

export interface RecorderStart {
  readonly header: SessionHeader;
  readonly secrets: Secrets;
  readonly sink: Sink;
  /** What has been folded so far. */
  readonly fold: Fold;
  /** The next sequence number, and the hash of the event before it. */
  readonly seq: number;
  readonly hash: string;
  /** What a listing says about the session. */
  readonly tally?: Tally;
  /** Takes a snapshot now and then; what it answers is its content hash. */
  readonly snapshots?: {
    due(lineBytes: number): boolean;
    take(hash: string): string | undefined;
  };
}

type Chunk = EventData['step.chunk'];

export class Recorder implements Writer {
  readonly header: SessionHeader;
  readonly #secrets: Secrets;
  readonly #sink: Sink;
  readonly #fold: Fold;
  readonly #tally: Tally | undefined;
  readonly #codec: DataCodec;
  readonly #encoder: LineEncoder;
  readonly #snapshots: RecorderStart['snapshots'];
  readonly #listeners = new Set<(event: Event) => void>();
  /** Ends of streams that may be the beginning of a secret, by step. */
  readonly #held = new Map<number, { attempt: number; text: string; reasoning: string }>();
  #seq: number;
  #closed = false;

  constructor({ header, secrets, sink, fold, seq, hash, tally, snapshots }: RecorderStart) {
    this.header = header;
    this.#secrets = secrets;
    this.#sink = sink;
    this.#fold = fold;
    this.#tally = tally;
    this.#codec = new DataCodec(secrets, sink.keepBlob);
    this.#encoder = new LineEncoder(header.id, hash);
    this.#snapshots = snapshots;
    this.#seq = seq;
  }

  get id(): string {
    return this.header.id;
  }

  get view(): SessionView {
    return this.#fold.view;
  }

  get failed(): Error | undefined {
    return this.#sink.failed;
  }

  /** Sequence number of the last event, −1 before the first. */
  get lastSeq(): number {
    return this.#seq - 1;
  }

  /** Hash of the last event. */
  get lastHash(): string {
    return this.#encoder.hash;
  }

  /** The first event of a session (or of a fork's own part); the store calls it. */
  opened(): Event {
    return this.#append('session.opened', this.header, undefined);
  }

  append<T extends EventType>(type: T, data: EventData[T], step?: number): Event {
    switch (type as EventType) {
      case 'session.opened':
        throw new ChassisError(
          'InvalidParams',
          'session.opened is written by the store when it creates a session',
        );
      case 'step.started': {
        const next = this.view.steps.length + 1;
        if (step !== undefined && step !== next) {
          throw new ChassisError('InvalidParams', `the next step is ${next}, not ${step}`, {
            data: { next, step },
          });
        }
        return this.#append(type, data, next);
      }
      case 'step.chunk':
        return this.#append(type, this.#withoutOpenEnd(data as Chunk, this.#known(type, step)), step);
      case 'step.finished':
      case 'step.attempt':
        this.#release(this.#known(type, step));
        return this.#append(type, data, step);
      case 'step.dispatched':
        return this.#append(type, data, this.#known(type, step));
      default:
        if (!/^[A-Za-z][A-Za-z0-9._-]{0,127}$/.test(type)) {
          throw new ChassisError('InvalidParams', `${JSON.stringify(type)} is no name for an event type`);
        }
        return this.#append(type, data, step);
    }
  }

  blob(value: unknown): BlobRef {
    this.#writable();
    return this.#codec.blob(value);
  }

  barrier(): Promise<void> {
    return this.#sink.barrier();
  }

  subscribe(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    if (!this.failed) for (const step of [...this.#held.keys()]) this.#release(step);
    this.#closed = true;
    this.#listeners.clear();
    await this.#sink.close();
  }

  #append(type: string, data: object, step: number | undefined): Event {
    this.#writable();
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw new ChassisError('InvalidOutput', `the data of ${type} must be an object`);
    }
    const { text, data: shown, large: key, head, refs } = this.#codec.encode(type, data);
    const { id } = this.header;
    const seq = this.#seq;
    const time = Date.now();
    const line = this.#encoder.encode(seq, time, type, step, text);
    this.#seq++;
    const { hash, dataStart, dataEnd } = this.#encoder;
    const page = this.#sink.write(line, seq);
    const v = FORMAT_VERSION;
    const event = (step === undefined
      ? { v, session: id, seq, time, type, data: shown, hash }
      : { v, session: id, seq, time, type, step, data: shown, hash }) as unknown as Event;
    const resolve = refs ? this.#sink.resolve : undefined;
    this.#tally?.add(event, event);
    if (key === undefined) {
      this.#fold.apply(event, resolve, undefined, head);
      return this.#told(event, line.length);
    }
    page.kept = true;
    const start = page.used - line.length;
    const kept = (member?: string): Kept => new Kept(page.bytes, start + dataStart, start + dataEnd, member);
    this.#fold.apply(event, resolve, { key, value: kept(key) }, head);
    return this.#told(new RecordedEvent(event, kept()) as unknown as Event, line.length);
  }

  #told(event: Event, bytes: number): Event {
    for (const listener of this.#listeners) tell(listener, event);
    this.#fold.release(this.#sink.written);
    if (this.#snapshots?.due(bytes)) this.#snapshot(this.#snapshots);
    return event;
  }

  #snapshot(snapshots: NonNullable<RecorderStart['snapshots']>): void {
    const state = snapshots.take(this.#encoder.hash);
    if (state !== undefined) this.#append('snapshot.taken', { state }, undefined);
  }

  #writable(): void {
    if (this.failed) throw this.failed;
    if (this.#closed) throw new ChassisError('Conflict', `session ${this.header.id} is closed for writing`);
  }

  #known(type: string, step: number | undefined): number {
    if (step !== undefined && this.view.step(step)) return step;
    throw new ChassisError(
      'InvalidParams',
      `${type} needs the number of a step that has started, not ${step}`,
    );
  }

  /** Keeps back what may be the beginning of a secret, until its end has come. */
  #withoutOpenEnd(data: Chunk, step: number): Chunk {
    const held = this.#held.get(step);
    if (held && held.attempt !== data.attempt) this.#release(step);
    const text = (this.#held.get(step)?.text ?? '') + (data.text ?? '');
    const reasoning = (this.#held.get(step)?.reasoning ?? '') + (data.reasoning ?? '');
    const textEnd = this.#secrets.safeLength(text);
    const reasoningEnd = this.#secrets.safeLength(reasoning);
    this.#held.delete(step);
    if (textEnd < text.length || reasoningEnd < reasoning.length) {
      const rest = { text: text.slice(textEnd), reasoning: reasoning.slice(reasoningEnd) };
      this.#held.set(step, { attempt: data.attempt, ...rest });
    }
    return {
      ...data,
      ...(text === '' && data.text === undefined ? {} : { text: text.slice(0, textEnd) }),
      ...(reasoning === '' && data.reasoning === undefined
        ? {}
        : { reasoning: reasoning.slice(0, reasoningEnd) }),
    };
  }

  /** The stream has ended: what was kept back is no beginning any more. */
  #release(step: number): void {
    const held = this.#held.get(step);
    if (!held) return;
    this.#held.delete(step);
    const { attempt, text, reasoning } = held;
    const rest = { ...(text === '' ? {} : { text }), ...(reasoning === '' ? {} : { reasoning }) };
    this.#append('step.chunk', { attempt, ...rest }, step);
  }
}

/** A listener's fault is its own: the record goes on. */
function tell(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(`a listener of session events failed: ${String(error)}`);
  }
}
