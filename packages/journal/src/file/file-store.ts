/** Sessions as plain files in a `.chassis` folder; see `layout.ts` for what stands where. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { damagedRecord } from '../damaged-record.ts';
import type { SessionHeader } from '../event.ts';
import { Fold } from '../fold.ts';
import { stringifyJson } from '../json.ts';
import { GENESIS } from '../line.ts';
import type { SearchHit } from '../passage.ts';
import { describeProblem, type Problem } from '../problem.ts';
import { Recorder } from '../recorder.ts';
import { findSession } from '../references.ts';
import { Secrets } from '../secrets.ts';
import { isSessionId } from '../session-id.ts';
import type { SessionView } from '../step.ts';
import type {
  BundleLines,
  Reader,
  Received,
  Repair,
  RepairOptions,
  SessionSummary,
  Store,
  Verification,
  Writer,
} from '../store.ts';
import { Tally } from '../tally.ts';
import { checkVersion } from '../upgrade.ts';
import { Appender, SEGMENT_BYTES } from './appender.ts';
import { BlobFiles } from './blob-files.ts';
import { type Disk, FOLDER_MODE, isCode, placeFile, realDisk, statIfThere } from './disk.ts';
import { Blocks } from './event-files.ts';
import { FileSink, Sealing } from './file-sink.ts';
import { foldUpTo } from './fold-up-to.ts';
import { newShelf, newTrail, pastOf, type Shelf, usableHistory } from './history.ts';
import { IndexDb } from './index-db.ts';
import { Layout, type SessionLayout } from './layout.ts';
import { listSessions, stampOf } from './listing.ts';
import { type Lock, liveness, readHolder, takeLock } from './lock.ts';
import { dropEmpty, type LoadedSession, loadSession, setAside } from './open-session.ts';
import { FileReader } from './reader.ts';
import { receiveBundle } from './receive.ts';
import { inheritedLosses } from './recorded-losses.ts';
import { afterCollection, collectBlobs, removeSession } from './removal.ts';
import { planRepair, type RepairPlan } from './repair.ts';
import { searchSessions } from './search.ts';
import { SearchDb } from './search-db.ts';
import { missingEnd, partsOf, readHeader, type SessionPart } from './session-files.ts';
import { SNAPSHOT_EVENTS, SnapshotWriter } from './snapshot-file.ts';
import { verifySession } from './verify.ts';

export interface FileStoreOptions {
  /** The `.chassis` folder; it is made when it is missing. */
  readonly root: string;
  /** What must never be written. */
  readonly secrets?: Secrets;
  /** Bytes at which a segment is closed and sealed (default 8 MiB). */
  readonly segmentBytes?: number;
  /** Events between two snapshots of a session's state (default 1024). */
  readonly snapshotEvents?: number;
  /** The operations that reach the disk; tests make them fail. */
  readonly disk?: Disk;
}

/** Opens (and if need be makes) a store in a folder. */
export function fileStore(options: FileStoreOptions): Store {
  return new FileStore(options);
}

function told({ session, problems, actions, after }: RepairPlan, applied: boolean): Repair {
  return { session, problems, actions, after, applied };
}

type Beginning = Pick<LoadedSession, 'fold' | 'trail' | 'seq' | 'hash' | 'snapshots'>;
type RecordStart = Beginning & Pick<LoadedSession, 'header' | 'tally' | 'end' | 'damage'>;

const NO_SNAPSHOTS: Beginning['snapshots'] = { from: -1, foreign: [] };

class FileStore implements Store {
  readonly #layout: Layout;
  readonly #secrets: Secrets;
  readonly #disk: Disk;
  readonly #segmentBytes: number;
  readonly #snapshotEvents: number;
  readonly #blobs: BlobFiles;
  readonly #index: IndexDb;
  readonly #shelf: Shelf;
  readonly #search: SearchDb;

  constructor({ root, secrets, segmentBytes, snapshotEvents, disk }: FileStoreOptions) {
    this.#layout = new Layout(absolute(root));
    this.#secrets = secrets ?? new Secrets();
    this.#segmentBytes = segmentBytes ?? SEGMENT_BYTES;
    this.#snapshotEvents = snapshotEvents ?? SNAPSHOT_EVENTS;
    this.#disk = disk ?? realDisk;
    this.#blobs = new BlobFiles(this.#layout, this.#disk);
    this.#index = new IndexDb(this.#layout.index);
    this.#shelf = newShelf(this.#layout, new Blocks());
    this.#search = new SearchDb(this.#layout.searchIndex);
  }

  async create(header: SessionHeader): Promise<Writer> {
    if (header.parent) throw new ChassisError('InvalidParams', 'a session with a parent is made by fork()');
    const trail = newTrail(this.#shelf);
    const fold = new Fold(header, pastOf(trail, [this.#ownPart(header)], this.#shelf, this.#blobs.resolve));
    return this.#begin(header, { fold, trail, seq: 0, hash: GENESIS, snapshots: NO_SNAPSHOTS });
  }

  async fork(parent: string, seq: number, header: SessionHeader): Promise<Writer> {
    const parts = await partsOf(this.#layout, parent);
    const history = await usableHistory(parts, this.#shelf, this.#blobs.resolve, { to: seq });
    const reached = history?.trail.seq === seq ? history : undefined;
    const trail = reached?.trail ?? newTrail(this.#shelf);
    const shared = parts.filter(({ first }) => first <= seq);
    const joined = [
      ...shared.map((part) => ({ ...part, last: Math.min(part.last, seq) })),
      this.#ownPart(header, seq + 1),
    ];
    const fold = new Fold(header, pastOf(trail, joined, this.#shelf, this.#blobs.resolve));
    const hash = reached?.hash ?? (await foldUpTo(seq, parent, parts, fold, this.#blobs.resolve));
    const step = header.parent?.step ?? lastFinished(fold.view);
    const start = { fold, trail, seq: seq + 1, hash, snapshots: reached ?? NO_SNAPSHOTS };
    return this.#begin({ ...header, parent: { session: parent, seq, step, hash } }, start);
  }

  async open(id: string, { force = false }: { readonly force?: boolean } = {}): Promise<Writer> {
    return this.#open(id, force, force);
  }

  /** @param prepare runs under the lock, before the log is read; what it answers is put on record */
  async #open(
    id: string,
    forceLock: boolean,
    force: boolean,
    prepare?: () => Promise<RepairPlan>,
  ): Promise<Writer> {
    const session = this.#existing(id);
    // A newer format is refused before anything is touched.
    await readHeader(this.#layout, id);
    const lock = takeLock(session.lock, `session ${id}`, forceLock);
    let recorder: Recorder | undefined;
    try {
      await afterCollection(this.#layout);
      const repair = await prepare?.();
      const loaded = await loadSession(this.#layout, this.#blobs, this.#shelf, id, repair !== undefined);
      const reached = this.#index.get(id)?.tallied.seq ?? -1;
      const lost = reached >= loaded.seq ? [missingEnd(session, reached + 1 - loaded.seq, loaded.seq)] : [];
      const damage = [...loaded.damage, ...lost];
      if (damage.length > 0 && !force) throw damagedRecord(id, `session ${id} is damaged`, damage);
      const reports = await setAside(this.#disk, session, loaded.leftovers);
      dropEmpty(session);
      recorder = await this.#record(session, loaded, lock);
      if (!loaded.begun) recorder.opened();
      // Whoever made the session may have been killed between its first event and its header.
      if (!existsSync(session.head)) await this.#placeHeader(session, loaded.header);
      // What is set aside stands among the reports.
      const found = repair
        ? repair.actions.filter(({ kind }) => kind !== 'torn' && kind !== 'stale')
        : damage;
      const problems = [...reports, ...found] as unknown as Json[];
      if (problems.length > 0) {
        const steps = loaded.fold.view.steps
          .filter((step) => step.status === 'dispatched')
          .map((step) => step.number);
        const lost = repair ? { lost: repair.losses } : {};
        recorder.append('session.repaired', { problems, steps, ...lost });
        await recorder.barrier();
      }
      return recorder;
    } catch (error) {
      await recorder?.close();
      lock.release();
      throw error;
    }
  }

  async reader(id: string): Promise<Reader> {
    this.#existing(id);
    const header = await readHeader(this.#layout, id);
    return new FileReader(this.#layout, this.#blobs, this.#index, this.#shelf, header);
  }

  async *list(): AsyncGenerator<SessionSummary> {
    yield* await listSessions(this.#layout, this.#index, this.#shelf);
  }

  async search(
    text: string,
    { limit = 50 }: { readonly limit?: number } = {},
  ): Promise<readonly SearchHit[]> {
    const sessions = await listSessions(this.#layout, this.#index, this.#shelf);
    return searchSessions(this.#layout, this.#search, this.#blobs.resolve, sessions, text, limit);
  }

  async verify(id: string): Promise<Verification> {
    this.#existing(id);
    return verifySession(this.#layout, this.#blobs, this.#index, id);
  }

  async repair(id: string, { apply = false, from }: RepairOptions = {}): Promise<Repair> {
    const session = this.#existing(id);
    const place = { layout: this.#layout, disk: this.#disk, blobs: this.#blobs, index: this.#index };
    const holder = readHolder(session.lock);
    if (holder && liveness(holder) !== 'dead')
      throw new ChassisError(
        'Conflict',
        `session ${id} is open for writing in process ${holder.pid} on ${holder.host}`,
      );
    const before = await this.verify(id);
    const inherited = await inheritedLosses(before.losses ?? [], await partsOf(this.#layout, id));
    if (before.ok && from === undefined && inherited.length === 0)
      return { session: id, problems: [], actions: [], after: before, applied: false };
    if (!apply) {
      const plan = await planRepair(place, id, from);
      plan.discard();
      return told(plan, false);
    }
    let plan: RepairPlan | undefined;
    const writer = await this.#open(id, false, true, async () => {
      plan = await planRepair(place, id, from);
      await plan.apply();
      return plan;
    });
    await writer.close();
    const done = plan as unknown as RepairPlan;
    return { ...told(done, done.actions.length > 0), after: await this.verify(id) };
  }

  async find(reference: string): Promise<string> {
    return findSession(reference, this.#layout.ids(), () =>
      listSessions(this.#layout, this.#index, this.#shelf),
    );
  }

  async remove(id: string, options: { readonly force?: boolean } = {}): Promise<number> {
    this.#existing(id);
    const freed = await removeSession(this.#layout, id, options.force ?? false);
    this.#index.remove(id);
    this.#search.remove(id);
    return freed;
  }

  async collect(): Promise<number> {
    this.#layout.prepare();
    return collectBlobs(this.#layout, this.#blobs);
  }

  async receive(lines: AsyncIterable<BundleLines>): Promise<Received> {
    this.#layout.prepare();
    await afterCollection(this.#layout);
    return receiveBundle(this.#layout, this.#disk, this.#blobs, this.#segmentBytes, lines, async (id) => {
      const { head_hash: hash } = await this.verify(id);
      return { seq: await (await this.reader(id)).lastSeq(), hash };
    });
  }

  async blob(sha256: string): Promise<Uint8Array | undefined> {
    try {
      return this.#blobs.read(sha256);
    } catch (cause) {
      const file = this.#layout.blob(sha256);
      const message = `the content of blob ${sha256} is damaged: ${(cause as Error).message}`;
      const problem = { kind: 'blob-damaged', message, file };
      throw new ChassisError('DamagedRecord', describeProblem(problem), {
        data: { problems: [problem] },
        cause,
      });
    }
  }

  async close(): Promise<void> {
    this.#index.close();
    this.#search.close();
  }

  /** What a session that begins now gives to its log. */
  #ownPart(header: SessionHeader, first = 0): SessionPart {
    const { id } = header;
    const layout = this.#layout.session(id);
    return { id, layout, header, first, last: Number.POSITIVE_INFINITY, hash: undefined };
  }

  #existing(id: string): SessionLayout {
    const session = this.#layout.session(id);
    if (isSessionId(id) && statIfThere(session.folder)?.isDirectory()) return session;
    throw new ChassisError('InvalidParams', `there is no session ${id}`, { data: { session: id } });
  }

  /** Makes the folder, the header and the first event, all durable. */
  async #begin(header: SessionHeader, from: Beginning): Promise<Writer> {
    const { id } = header;
    if (!isSessionId(id)) throw new ChassisError('InvalidParams', `${JSON.stringify(id)} is no session id`);
    checkVersion(header.v, `session ${id}`);
    this.#layout.prepare();
    const session = this.#layout.session(id);
    try {
      mkdirSync(session.folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
      throw new ChassisError('Conflict', `there is a session ${id} already`, { data: { session: id } });
    }
    const lock = takeLock(session.lock, `session ${id}`);
    let recorder: Recorder | undefined;
    try {
      await afterCollection(this.#layout);
      mkdirSync(session.log, { mode: FOLDER_MODE });
      const clean = this.#secrets.redact(header);
      const start = { ...from, header: clean, tally: new Tally(clean), end: undefined, damage: [] };
      recorder = await this.#record(session, start, lock);
      recorder.opened();
      // Each waits for the disk: all of them at once take hardly longer than one.
      await allDone([this.#placeHeader(session, clean), recorder.barrier()]);
      await allDone([session.folder, this.#layout.sessions].map((path) => this.#disk.syncFolder(path)));
      return recorder;
    } catch (error) {
      await recorder?.close();
      rmSync(session.folder, { recursive: true, force: true });
      throw error;
    }
  }

  #placeHeader(session: SessionLayout, header: SessionHeader): Promise<void> {
    return placeFile(this.#disk, session.head, Buffer.from(`${stringifyJson(header)}\n`));
  }

  async #record(session: SessionLayout, start: RecordStart, lock: Lock): Promise<Recorder> {
    const { header, fold, trail, tally, seq, hash, end, damage } = start;
    const segments = session.segments();
    const last = segments.at(-1);
    // After a takeover the dead (or only stopped) holder may still have the old segment open: leave it behind.
    const goOn = last && !last.sealed && !lock.takenOver && end?.segment.first === last.first;
    const segment = goOn
      ? { fd: await this.#disk.open(last.path, 'r+'), first: last.first, length: end.offset }
      : undefined;
    const sealing = new Sealing(this.#disk, session);
    for (const one of segments) if (!one.sealed && !(goOn && one === last)) sealing.add(one.first);
    const appender = new Appender({
      disk: this.#disk,
      layout: session,
      blobs: this.#blobs,
      lock,
      segment,
      written: seq - 1,
      segmentBytes: this.#segmentBytes,
      onComplete: (first) => sealing.add(first),
    });
    const finish = async (): Promise<void> => {
      await sealing.done;
      if (!appender.failed) this.#remember(session, recorder, tally, damage);
      snapshots.close();
      lock.release();
    };
    const snapshots = new SnapshotWriter({
      session: header.id,
      layout: session,
      trail,
      tally: () => tally.value(),
      mayWrite: () => lock.check(),
      last: start.snapshots.from,
      every: this.#snapshotEvents,
      foreign: start.snapshots.foreign,
    });
    const sink = new FileSink(appender, this.#blobs, finish);
    const recorder = new Recorder({
      header,
      secrets: this.#secrets,
      sink,
      fold,
      seq,
      hash,
      tally,
      snapshots,
    });
    return recorder;
  }

  /** Leaves in the index how far the log reaches. */
  #remember(session: SessionLayout, recorder: Recorder, tally: Tally, damage: readonly Problem[]): void {
    const last = session.segments().at(-1);
    if (!last || last.sealed) return;
    const stamp = stampOf(session);
    const hash = recorder.lastHash;
    const [first] = damage;
    const problem = first ? describeProblem(first) : null;
    const row = { id: recorder.id, ...stamp, first: last.first, offset: stamp.size, hash, problem };
    this.#index.put([{ ...row, tallied: tally.value() }]);
  }
}

/** Waits for all of them, also when one fails: then for the others to be over. */
async function allDone(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

/** The last step that has finished; 0 without one. */
function lastFinished({ steps }: SessionView): number {
  return steps.findLast((step) => step.seq.finished !== undefined)?.number ?? 0;
}
