/**
 * Sessions in memory: the same writers, chains and folds without a disk. For strict replays and for tests.
 *
 * Promise: what a file store would log, byte for byte, is what stands here.
 */
import { hash as sha256Of } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { blobValue, loseRef, type Resolve } from './blob-ref.ts';
import { sameOrConflict } from './bundle.ts';
import { BundleReader } from './bundle-reader.ts';
import { Chain } from './chain.ts';
import type { BlobRef, SessionHeader } from './event.ts';
import { Fold } from './fold.ts';
import { decodeLine, GENESIS } from './line.ts';
import { MemoryReader, type MemorySession } from './memory-reader.ts';
import { indexOf, lastOf, numberOf } from './numbered-lines.ts';
import { around, holdsAll, passagesOf, type SearchHit, termsOf } from './passage.ts';
import type { Problem } from './problem.ts';
import { type Page, Recorder, type Sink } from './recorder.ts';
import { findSession } from './references.ts';
import { Secrets } from './secrets.ts';
import type {
  BundleLines,
  Reader,
  Received,
  Repair,
  SessionSummary,
  Store,
  Verification,
  Writer,
} from './store.ts';
import { listedOutcome, Tally } from './tally.ts';
import { checkVersion } from './upgrade.ts';

/** Opens an empty store in memory. */
export function memoryStore(options: { readonly secrets?: Secrets } = {}): Store {
  return new MemoryStore(options.secrets ?? new Secrets());
}

/**
 * A writer that keeps no log, only the view: for a re-execution whose record nobody will read. The header may have a
 * parent; the session starts at sequence number 0 all the same, because a re-execution runs the whole past again.
 */
export function memoryWriter(header: SessionHeader, options: { readonly secrets?: Secrets } = {}): Writer {
  const recorder = new Recorder({
    header,
    secrets: options.secrets ?? new Secrets(),
    sink: new MemorySink(new Map(), undefined),
    fold: new Fold(header),
    seq: 0,
    hash: GENESIS,
  });
  recorder.opened();
  return recorder;
}

/** Size of the pages that lines stand on, in bytes. */
const PAGE_BYTES = 64 * 1024;

class MemorySink implements Sink {
  readonly failed = undefined;
  readonly written = -1;
  readonly #blobs: Map<string, Buffer>;
  readonly #lines: string[] | undefined;
  readonly #closed: () => void;
  #page: Page = { bytes: Buffer.alloc(0), used: 0, kept: false };

  constructor(blobs: Map<string, Buffer>, lines: string[] | undefined, closed: () => void = () => undefined) {
    this.#blobs = blobs;
    this.#lines = lines;
    this.#closed = closed;
  }

  write(line: Buffer): Page {
    this.#lines?.push(line.toString('utf8', 0, line.length - 1));
    if (!this.#page.kept) this.#page.used = 0;
    if (this.#page.used + line.length > this.#page.bytes.length) {
      const size = Math.max(PAGE_BYTES, line.length);
      this.#page = { bytes: Buffer.allocUnsafe(size), used: 0, kept: false };
    }
    this.#page.used += line.copy(this.#page.bytes, this.#page.used);
    return this.#page;
  }

  readonly keepBlob = (sha256: string, bytes: Buffer): void => {
    this.#blobs.set(sha256, bytes);
  };

  readonly resolve: Resolve = (ref: BlobRef): Json => {
    const bytes = this.#blobs.get(ref.$blob.sha256);
    return bytes ? blobValue(bytes, ref.$blob.media_type, this.resolve) : loseRef(ref);
  };

  async barrier(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed();
  }
}

class MemoryStore implements Store {
  readonly #secrets: Secrets;
  readonly #sessions = new Map<string, MemorySession>();
  readonly #blobs = new Map<string, Buffer>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  async create(header: SessionHeader): Promise<Writer> {
    return this.#begin(header, []);
  }

  async fork(parent: string, seq: number, header: SessionHeader): Promise<Writer> {
    const { lines } = this.#session(parent);
    const line = lines[indexOf(lines, seq)];
    if (line === undefined || numberOf(line) !== seq) {
      throw new ChassisError(
        'InvalidParams',
        `session ${parent} has no event ${seq}; its last one is ${lastOf(lines)}`,
      );
    }
    const prefix = lines.slice(0, indexOf(lines, seq + 1));
    const view = this.#fold(header, prefix).view;
    const step =
      header.parent?.step ?? view.steps.filter((one) => one.seq.finished !== undefined).at(-1)?.number ?? 0;
    const { hash } = decodeLine(line).event;
    return this.#begin({ ...header, parent: { session: parent, seq, step, hash } }, prefix);
  }

  async open(id: string): Promise<Writer> {
    const session = this.#session(id);
    if (session.writer)
      throw new ChassisError('Conflict', `session ${id} is open for writing in this process`);
    return this.#record(session);
  }

  async reader(id: string): Promise<Reader> {
    const session = this.#session(id);
    return new MemoryReader(session, this.#fold.bind(this), this.#resolve);
  }

  async *list(): AsyncGenerator<SessionSummary> {
    yield* this.#summaries();
  }

  async verify(id: string): Promise<Verification> {
    const { lines, losses } = this.#session(id);
    const chain = new Chain();
    const problems: Problem[] = [];
    for (const line of lines) {
      const { problem } = chain.check(Buffer.from(line));
      if (problem && !(problem.kind === 'gap' && losses.length > 0)) problems.push(problem);
    }
    for (const [sha256, bytes] of this.#blobs) {
      if (sha256Of('sha256', bytes) !== sha256)
        problems.push({ kind: 'blob-damaged', message: `blob ${sha256} is damaged` });
    }
    return { ok: problems.length === 0, session: id, events: lines.length, head_hash: chain.hash, problems };
  }

  async search(
    text: string,
    { limit = 50 }: { readonly limit?: number } = {},
  ): Promise<readonly SearchHit[]> {
    const terms = termsOf(text);
    const found: SearchHit[] = [];
    for await (const { id, title } of this.list()) {
      for await (const event of (await this.reader(id)).events()) {
        for (const passage of passagesOf(event))
          if (terms.length > 0 && found.length < limit && holdsAll(passage.text, terms))
            found.push({ ...passage, session: id, title, seq: event.seq, text: around(passage.text, terms) });
      }
    }
    return found;
  }

  /** Nothing here can be damaged. */
  async repair(id: string): Promise<Repair> {
    const after = await this.verify(id);
    return { session: id, problems: [], actions: [], after, applied: false };
  }

  find(reference: string): Promise<string> {
    return findSession(reference, [...this.#sessions.keys()], async () => this.#summaries());
  }

  async remove(id: string, options: { readonly force?: boolean } = {}): Promise<number> {
    const session = this.#session(id);
    if (session.writer && !options.force)
      throw new ChassisError('Conflict', `session ${id} is open for writing`);
    this.#sessions.delete(id);
    return session.lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  }

  async collect(): Promise<number> {
    let freed = 0;
    const texts = [...this.#sessions.values()].flatMap((session) => session.lines);
    for (const [sha256, bytes] of [...this.#blobs]) {
      const inBlob = (): boolean => [...this.#blobs.values()].some((other) => other.includes(sha256));
      if (texts.some((text) => text.includes(sha256)) || inBlob()) continue;
      this.#blobs.delete(sha256);
      freed += bytes.length;
    }
    return freed;
  }

  async receive(lines: AsyncIterable<BundleLines>): Promise<Received> {
    const bundle = new BundleReader((sha256) => this.#blobs.has(sha256));
    const taken: string[] = [];
    const contents = new Map<string, Buffer>();
    for await (const parts of bundle.parts(lines)) {
      for (const part of parts) {
        if (part.kind === 'blob') contents.set(part.sha256, part.bytes);
        else if (!part.mark) taken.push(part.line.toString('utf8'));
      }
    }
    const { header, head } = bundle;
    const there = this.#sessions.get(header.id);
    if (there) {
      const last = decodeLine(there.lines.at(-1) as string).event;
      sameOrConflict(header.id, last, head);
      return { session: header.id, fresh: false };
    }
    for (const [sha256, bytes] of contents) this.#blobs.set(sha256, bytes);
    const session = {
      header,
      lines: taken,
      losses: bundle.losses,
      writer: undefined,
      listeners: new Set<() => void>(),
    };
    this.#sessions.set(header.id, session);
    return { session: header.id, fresh: true };
  }

  async blob(sha256: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(sha256);
  }

  async close(): Promise<void> {}

  readonly #resolve: Resolve = (ref) => new MemorySink(this.#blobs, undefined).resolve(ref);

  #session(id: string): MemorySession {
    const session = this.#sessions.get(id);
    if (!session)
      throw new ChassisError('InvalidParams', `there is no session ${id}`, { data: { session: id } });
    return session;
  }

  #begin(header: SessionHeader, prefix: string[]): Writer {
    checkVersion(header.v, `session ${header.id}`);
    if (this.#sessions.has(header.id))
      throw new ChassisError('Conflict', `there is a session ${header.id} already`);
    const clean = this.#secrets.redact(header);
    const session: MemorySession = {
      header: clean,
      lines: prefix,
      losses: [],
      writer: undefined,
      listeners: new Set(),
    };
    this.#sessions.set(header.id, session);
    const recorder = this.#record(session);
    recorder.opened();
    return recorder;
  }

  #record(session: MemorySession): Recorder {
    const { header, lines } = session;
    const last = lines.at(-1);
    const recorder = new Recorder({
      header,
      secrets: this.#secrets,
      sink: new MemorySink(this.#blobs, lines, () => {
        session.writer = undefined;
      }),
      fold: this.#fold(header, lines),
      seq: lastOf(lines) + 1,
      hash: last === undefined ? GENESIS : decodeLine(last).event.hash,
    });
    recorder.subscribe(() => {
      for (const listener of session.listeners) listener();
    });
    session.writer = recorder;
    return recorder;
  }

  #fold(header: SessionHeader, lines: readonly string[], problems: readonly Problem[] = []): Fold {
    const fold = new Fold(header, undefined, [...problems]);
    for (const line of lines) {
      const { event, refs, large } = decodeLine(line, true);
      fold.apply(event, refs ? this.#resolve : undefined, large);
    }
    return fold;
  }

  #summaries(): SessionSummary[] {
    return [...this.#sessions.values()]
      .map(({ header, lines, writer }) => {
        const tally = new Tally(header);
        for (const line of lines.slice(header.parent ? indexOf(lines, header.parent.seq + 1) : 0)) {
          const { event } = decodeLine(line);
          tally.add(event, event);
        }
        const tallied = tally.value();
        return {
          id: header.id,
          title: header.title,
          created: header.created,
          updated: tallied.updated,
          outcome: listedOutcome(tallied, writer !== undefined),
          steps: tallied.steps,
          events: lastOf(lines) + 1,
          bytes: lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0),
          model: header.model.name,
          agent: header.agent.agent,
          tokens: tallied.tokens,
          cost_usd: tallied.cost_usd,
          workspace: header.workspace,
          ...(header.parent ? { parent: { session: header.parent.session, step: header.parent.step } } : {}),
        };
      })
      .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
  }
}
