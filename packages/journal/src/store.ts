/**
 * Where sessions live. Everything above talks to this interface, never to files.
 *
 * Promise: what `barrier()` acknowledged survives a crash; one writer a session; a reader needs no lock.
 */
import type {
  BlobRef,
  Event,
  EventData,
  EventHead,
  EventType,
  SessionHeader,
  UnknownEvent,
} from './event.ts';
import type { SearchHit } from './passage.ts';
import type { Problem } from './problem.ts';
import type { BundleSignature } from './signature.ts';
import type { SessionView } from './step.ts';

export interface Writer {
  readonly id: string;
  readonly header: SessionHeader;
  /** The fold of everything appended so far (of the parents too); kept up to date, not copied. */
  readonly view: SessionView;
  /** Set once writing failed: every later `append` and `barrier` throws it. */
  readonly failed: Error | undefined;
  /**
   * Takes the next sequence number for an event and queues it. Secrets are redacted and large values moved to
   * blobs on the way. Returns the event as logged.
   */
  append<T extends EventType>(type: T, data: EventData[T], step?: number): Event;
  /** Stores a value by content hash, whatever its size. */
  blob(value: unknown): BlobRef;
  /** Resolves when everything appended so far is on disk (fdatasync). */
  barrier(): Promise<void>;
  /** Every event from now on, as logged. Returns the function that ends it. */
  subscribe(listener: (event: Event) => void): () => void;
  close(): Promise<void>;
}

export interface ReadOptions {
  /** First and last `seq`, inclusive; the whole session (with its parents' prefix) without them. */
  readonly from?: number;
  readonly to?: number;
  /** Replace blob references by their values (default true). */
  readonly blobs?: boolean;
}

export interface Reader {
  readonly id: string;
  readonly header: SessionHeader;
  events(options?: ReadOptions): AsyncIterable<Event | UnknownEvent>;
  /**
   * The raw lines as they stand on disk, for `log`. `follow` keeps waiting for more until the signal aborts; `damaged` hears
   * of what is passed over, in its place.
   */
  lines(options?: {
    from?: number;
    to?: number;
    follow?: boolean;
    signal?: AbortSignal;
    damaged?: (problem: Problem) => void;
  }): AsyncIterable<string>;
  /**
   * What is in the session without reading what it carries: heads of events in batches, in order, unchecked. For a skeleton of a
   * long session; `events({ from, to })` then has the rest of one.
   */
  heads(options?: Pick<ReadOptions, 'from' | 'to'>): AsyncIterable<readonly EventHead[]>;
  /**
   * The lines as bytes without their newlines, in batches, for whoever moves a whole log; a mark in place of lost events is among
   * them. `damaged` as above.
   */
  batches(options?: { damaged?: (problem: Problem) => void }): AsyncIterable<readonly Buffer[]>;
  /** The number of the last event that is on disk, −1 without one; found without reading the log. */
  lastSeq(): Promise<number>;
  /** The fold up to and including `seq` (default: the end), with everything that is wrong with what was read in `problems`. */
  view(to?: number, options?: ViewOptions): Promise<SessionView>;
}

export interface ViewOptions {
  /**
   * Read all of it now, for whoever is going to look at every step. Without it the past of a long session is read when
   * somebody looks at it.
   */
  readonly whole?: boolean;
}

/** A line of a listing. `problem` says why a session cannot be opened; it is listed all the same. */
export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  readonly created: number;
  /** Time of the last event. */
  readonly updated: number;
  /**
   * `running` while a live process holds the lock; `interrupted` when none does and no end is on record; `ready` when nothing
   * has run in it yet, such as a fork that was only made.
   */
  readonly outcome: 'running' | 'ready' | 'ok' | 'failed' | 'cancelled' | 'interrupted' | 'unreadable';
  readonly steps: number;
  readonly events: number;
  readonly bytes: number;
  readonly model: string;
  readonly agent: string;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number | null;
  readonly workspace: string;
  readonly parent?: { readonly session: string; readonly step: number };
  readonly problem?: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly session: string;
  readonly events: number;
  readonly head_hash: string;
  readonly problems: readonly Problem[];
  /** What is gone and was put on record by a repair; a record with losses and no problems is ok. */
  readonly losses?: readonly Problem[];
  /** A bundle's signature, when it has one that fits. */
  readonly signature?: BundleSignature;
}

export interface RepairOptions {
  /** Changes the record; without it everything is tried on a copy, and the record stays as it is. */
  readonly apply?: boolean;
  /** Lines of a bundle of the same session: what it has and the record lacks is taken from it, when the chain bears it out. */
  readonly from?: AsyncIterable<string>;
}

export interface Repair {
  readonly session: string;
  /** What was wrong. */
  readonly problems: readonly Problem[];
  /** What is done about it: `mended`, `restored`, `lost`, `removed`, `set-aside`, `head`, … */
  readonly actions: readonly Problem[];
  /** The record (or without `apply`, its copy) afterwards. */
  readonly after: Verification;
  readonly applied: boolean;
}

/** A line of a bundle, or many as bytes. Newlines may stand at their ends or not. */
export type BundleLines = string | readonly Buffer[];

export interface Received {
  readonly session: string;
  /** False when the same session was there already: then nothing was done. */
  readonly fresh: boolean;
}

export interface Store {
  create(header: SessionHeader): Promise<Writer>;
  /**
   * Opens a session for writing: takes the lock (Conflict names the holder), sets a torn tail aside and reports it
   * with `session.repaired`. Damage in the middle is a DamagedRecord unless `force`.
   */
  open(id: string, options?: { readonly force?: boolean }): Promise<Writer>;
  /** A new session that shares the parent's past up to `seq`: constant time and size. */
  fork(parent: string, seq: number, header: SessionHeader): Promise<Writer>;
  reader(id: string): Promise<Reader>;
  /** Newest first. */
  list(): AsyncIterable<SessionSummary>;
  verify(id: string): Promise<Verification>;
  /**
   * Brings back what can be brought back, puts on record what cannot, and leaves a record that is whole from then on. What it
   * replaces is kept in `quarantine/`. Conflict while a living process holds the session.
   */
  repair(id: string, options?: RepairOptions): Promise<Repair>;
  /**
   * Looks for words and "quoted phrases" in titles, messages, names of tools, errors and notes of all sessions; a word also
   * finds longer ones that begin with it. Best first.
   */
  search(text: string, options?: { readonly limit?: number }): Promise<readonly SearchHit[]>;
  /** Id, unique prefix, `@last`, `@failed` → full id. InvalidParams with the candidates or the nearest ids otherwise. */
  find(reference: string): Promise<string>;
  /** Refuses (Conflict) while a live process holds it or a fork needs it, unless `force`. Returns the bytes freed. */
  remove(id: string, options?: { readonly force?: boolean }): Promise<number>;
  /** Deletes blobs that no session refers to any more. Returns the bytes freed. */
  collect(): Promise<number>;
  /** Takes in the lines of a bundle; see `importBundle`. */
  receive(lines: AsyncIterable<BundleLines>): Promise<Received>;
  /** The bytes stored under a content hash (a file's content before or after a step, …), or undefined. */
  blob(sha256: string): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}
