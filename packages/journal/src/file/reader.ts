/** Reads a session from files. Many readers in many processes may do so while it is written; none takes a lock. */
import { existsSync, watch } from 'node:fs';
import { hashesIn, type Resolve, resolveRefs } from '../blob-ref.ts';
import { Chain } from '../chain.ts';
import type { Event, EventHead, SessionHeader, UnknownEvent } from '../event.ts';
import { Fold } from '../fold.ts';
import { decodeLine } from '../line.ts';
import type { Problem } from '../problem.ts';
import type { SessionView } from '../step.ts';
import type { Reader, ReadOptions, ViewOptions } from '../store.ts';
import type { BlobFiles } from './blob-files.ts';
import { Damage } from './damage.ts';
import { EventFiles } from './event-files.ts';
import { headsOf } from './heads.ts';
import { rangeBehind, type Shelf, usableHistory } from './history.ts';
import type { IndexDb } from './index-db.ts';
import type { Layout } from './layout.ts';
import { type ScannedLine, scanLog } from './log-scan.ts';
import { partsOf, type SessionPart, scanPart } from './session-files.ts';

/** How often a follower looks by itself, where the system does not tell it of changes, in milliseconds. */
const POLL_MS = 250;

type Range = Pick<ReadOptions, 'from' | 'to'>;

export class FileReader implements Reader {
  readonly header: SessionHeader;
  readonly #layout: Layout;
  readonly #blobs: BlobFiles;
  readonly #index: IndexDb;
  readonly #shelf: Shelf;

  constructor(layout: Layout, blobs: BlobFiles, index: IndexDb, shelf: Shelf, header: SessionHeader) {
    this.header = header;
    this.#shelf = shelf;
    this.#layout = layout;
    this.#blobs = blobs;
    this.#index = index;
  }

  get id(): string {
    return this.header.id;
  }

  async *events(options: ReadOptions = {}): AsyncGenerator<Event | UnknownEvent> {
    for await (const lines of this.#scan(options)) {
      for (const { bytes, checked } of lines) {
        const { event, refs } = decodeLine(bytes, false, checked);
        if (!refs || options.blobs === false) yield event;
        else yield { ...event, data: resolveRefs(event.data as never, this.#blobs.resolve) } as UnknownEvent;
      }
    }
  }

  async *lines(options: Parameters<Reader['lines']>[0] = {}): AsyncGenerator<string> {
    let last: ScannedLine | undefined;
    let next = options.from ?? 0;
    for await (const lines of this.#scanned(options)) {
      for (const line of lines) {
        if (line.problem) options.damaged?.(line.problem);
        if (!line.checked.whole) continue;
        yield line.bytes.toString('utf8');
        last = line;
        next = (line.checked.head?.seq ?? next) + 1;
      }
    }
    if (options.follow)
      yield* this.#follow(next, last, options.to ?? Number.POSITIVE_INFINITY, options.signal);
  }

  async *heads(options: Range = {}): AsyncGenerator<readonly EventHead[]> {
    yield* headsOf(await partsOf(this.#layout, this.id), options);
  }

  async *batches({ damaged }: { damaged?: (problem: Problem) => void } = {}): AsyncGenerator<Buffer[]> {
    for await (const lines of this.#scanned({})) {
      const batch: Buffer[] = [];
      for (const { problem, checked, bytes } of lines) {
        if (problem) damaged?.(problem);
        if (checked.whole || problem?.kind === 'lost') batch.push(bytes);
      }
      yield batch;
    }
  }

  async lastSeq(): Promise<number> {
    return new EventFiles(await partsOf(this.#layout, this.id), this.#shelf.blocks).last();
  }

  async view(to?: number, { whole = false }: ViewOptions = {}): Promise<SessionView> {
    const parts = await partsOf(this.#layout, this.id);
    const damage = new Damage(this.id, this.#layout, this.#index);
    const resolve = this.#resolveAndTell(damage);
    const onBlob = (sha256: string, seq: number): void => damage.demandBlob(sha256, seq, this.#blobs);
    // What cannot be read on the way is judged below; what is met later, when somebody looks at it, is told.
    let later = false;
    const tell = (problem: Problem): void => {
      if (later) damage.problems.push(problem);
    };
    const history = whole
      ? undefined
      : await usableHistory(parts, this.#shelf, resolve, { to, onBlob, tell });
    const fold = new Fold(history?.header ?? this.header, history?.past, damage.problems);
    damage.problems.push(...(history?.problems ?? []));
    const from = (history?.trail.seq ?? -1) + 1;
    const chain = new Chain(from, history?.hash);
    for (const part of parts.filter(({ last }) => last >= from)) {
      for await (const lines of scanPart(part, rangeBehind(history, part, to), chain)) {
        for (const { bytes, checked, problem } of lines) {
          damage.line(part, problem);
          if (!checked.whole) continue;
          const { event, refs, large } = decodeLine(bytes, true, checked);
          if (refs) for (const sha256 of hashesIn(bytes)) onBlob(sha256, event.seq);
          fold.apply(event, refs ? resolve : undefined, large);
        }
      }
      damage.end(part, chain, to);
    }
    later = true;
    return fold.view;
  }

  /** Values are fetched when they are looked at: a damaged one is named then. */
  #resolveAndTell(damage: Damage): Resolve {
    return (ref) => {
      const value = this.#blobs.resolve(ref);
      const { sha256 } = ref.$blob;
      if ((value as unknown) === ref)
        damage.blob(sha256, 'blob-damaged', `the content of blob ${sha256} is damaged`);
      return value;
    };
  }

  /** Whole lines of the joined log. */
  async *#scan(range: Range): AsyncGenerator<ScannedLine[]> {
    for await (const lines of this.#scanned(range)) yield lines.filter(({ checked }) => checked.whole);
  }

  /** Lines of the joined log, whole or not; of a long one nothing before the first that is wanted. */
  async *#scanned(range: Range): AsyncGenerator<ScannedLine[]> {
    const parts = await partsOf(this.#layout, this.id);
    const before = (range.from ?? 0) - 1;
    const start = before < 0 ? undefined : new EventFiles(parts, this.#shelf.blocks).line(before);
    for (const part of parts) {
      if (start === undefined || before < part.first || before > part.last) {
        yield* scanPart(part, range);
        continue;
      }
      const resume = { first: start.segment.first, offset: start.end };
      yield* scanPart(part, { ...range, resume }, new Chain(before + 1, start.hash));
    }
  }

  async *#follow(
    start: number,
    last: ScannedLine | undefined,
    to: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string> {
    const own = (await partsOf(this.#layout, this.id)).at(-1) as SessionPart;
    const changes = new Changes(own.layout.log, signal);
    let next = start;
    // Parents are complete: only the own part grows, and only behind its last whole line.
    let latest = last?.segment.path.startsWith(own.layout.log) ? last : undefined;
    try {
      while (next <= to && !signal?.aborted) {
        const known =
          latest && !latest.segment.sealed && existsSync(latest.segment.path) ? latest : undefined;
        const chain = known ? new Chain(next, known.checked.hash) : Chain.from(next);
        const resume = known && { first: known.segment.first, offset: known.offset + known.bytes.length + 1 };
        for await (const lines of scanLog(own.layout, chain, {
          from: next,
          to,
          ...(resume ? { resume } : {}),
        })) {
          for (const line of lines) {
            if (!line.checked.whole || line.checked.head === undefined || line.checked.head.seq < next)
              continue;
            latest = line;
            next = line.checked.head.seq + 1;
            yield line.bytes.toString('utf8');
            if (signal?.aborted) return;
          }
        }
        await changes.next();
      }
    } finally {
      changes.close();
    }
  }
}

/** Tells when something happened in a folder, or might have. */
class Changes {
  readonly #watcher: { close(): void } | undefined;
  readonly #signal: AbortSignal | undefined;
  #changed = false;
  #wake: (() => void) | undefined;

  constructor(folder: string, signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#notice, { once: true });
    try {
      const watcher = watch(folder, this.#notice);
      watcher.on('error', () => watcher.close());
      this.#watcher = watcher;
    } catch {
      // No watching here (a network file system, too many watches): looking now and then does it too.
    }
  }

  readonly #notice = (): void => {
    this.#changed = true;
    this.#wake?.();
  };

  async next(): Promise<void> {
    if (!this.#changed && !this.#signal?.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#changed = false;
  }

  close(): void {
    this.#watcher?.close();
    this.#signal?.removeEventListener('abort', this.#notice);
  }
}
