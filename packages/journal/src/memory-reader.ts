/** Reads a session that is in memory. */
import type { Json } from '@chassis/types';
import { type Resolve, resolveRefs } from './blob-ref.ts';
import type { Event, EventHead, SessionHeader, UnknownEvent } from './event.ts';
import type { Fold } from './fold.ts';
import { decodeLine } from './line.ts';
import { eventHead } from './line-head.ts';
import { indexOf, lastOf, numberOf } from './numbered-lines.ts';
import type { Problem } from './problem.ts';
import type { Recorder } from './recorder.ts';
import type { SessionView } from './step.ts';
import type { Reader, ReadOptions } from './store.ts';

export interface MemorySession {
  readonly header: SessionHeader;
  /** The joined log; where events are lost, numbers are missing. */
  readonly lines: string[];
  /** What a repair has put on record as lost. */
  readonly losses: readonly Problem[];
  writer: Recorder | undefined;
  readonly listeners: Set<() => void>;
}

type MakeFold = (header: SessionHeader, lines: readonly string[], problems: readonly Problem[]) => Fold;

export class MemoryReader implements Reader {
  readonly header: SessionHeader;
  readonly #session: MemorySession;
  readonly #fold: MakeFold;
  readonly #resolve: Resolve;

  constructor(session: MemorySession, fold: MakeFold, resolve: Resolve) {
    this.header = session.header;
    this.#session = session;
    this.#fold = fold;
    this.#resolve = resolve;
  }

  get id(): string {
    return this.header.id;
  }

  async *events(options: ReadOptions = {}): AsyncGenerator<Event | UnknownEvent> {
    for (const line of this.#slice(options)) {
      const { event, refs } = decodeLine(line);
      if (!refs || options.blobs === false) yield event;
      else yield { ...event, data: resolveRefs(event.data as Json, this.#resolve) } as UnknownEvent;
    }
  }

  async *lines(
    options: { from?: number; to?: number; follow?: boolean; signal?: AbortSignal } = {},
  ): AsyncGenerator<string> {
    const to = options.to ?? Number.POSITIVE_INFINITY;
    const { lines, listeners } = this.#session;
    for (let next = indexOf(lines, options.from ?? 0); !options.signal?.aborted; ) {
      const line = lines[next];
      if (line !== undefined) {
        if (numberOf(line) > to) return;
        next++;
        yield line;
        if (numberOf(line) === to) return;
      } else if (options.follow) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            listeners.delete(wake);
            options.signal?.removeEventListener('abort', wake);
            resolve();
          };
          listeners.add(wake);
          options.signal?.addEventListener('abort', wake, { once: true });
        });
      } else return;
    }
  }

  async *batches(): AsyncGenerator<Buffer[]> {
    yield this.#session.lines.map((line) => Buffer.from(line));
  }

  async *heads(options: Pick<ReadOptions, 'from' | 'to'> = {}): AsyncGenerator<readonly EventHead[]> {
    yield this.#slice(options).flatMap((line) => eventHead(Buffer.from(line)) ?? []);
  }

  async lastSeq(): Promise<number> {
    return lastOf(this.#session.lines);
  }

  async view(to?: number): Promise<SessionView> {
    const { losses } = this.#session;
    return this.#fold(this.header, this.#slice(to === undefined ? {} : { to }), losses).view;
  }

  #slice({ from = 0, to }: { readonly from?: number; readonly to?: number }): readonly string[] {
    const { lines } = this.#session;
    return lines.slice(indexOf(lines, from), to === undefined ? undefined : indexOf(lines, to + 1));
  }
}
