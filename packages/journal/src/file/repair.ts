/**
 * Repairs a session's own log: on a copy first, in place only when it is asked for.
 *
 * Promise: whole lines stay byte for byte; what comes back is borne out by the hash chain or a content hash; what does not is
 * marked in its place; every file that is replaced is kept in `quarantine/`.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { Chain } from '../chain.ts';
import type { Losses } from '../event.ts';
import { stringifyJson } from '../json.ts';
import { decodeLine } from '../line.ts';
import { blobName, KnownLosses, type LostRange } from '../lost.ts';
import { describeProblem, type Problem } from '../problem.ts';
import type { Repair } from '../store.ts';
import type { BlobFiles } from './blob-files.ts';
import { type Disk, FOLDER_MODE, isCode, placeFile, statIfThere } from './disk.ts';
import type { IndexDb } from './index-db.ts';
import { Layout, offsetTable, type Segment, SessionLayout } from './layout.ts';
import { Mending } from './mending.ts';
import { inheritedLosses } from './recorded-losses.ts';
import { sealSegment } from './seal.ts';
import { partsOf, type SessionPart, scanPart } from './session-files.ts';
import { readSpare, type Spare } from './spare.ts';
import { verifySession } from './verify.ts';

/** What stands where: for a repair, and for nothing else. */
export interface RepairPlace {
  readonly layout: Layout;
  readonly disk: Disk;
  readonly blobs: BlobFiles;
  readonly index: IndexDb;
}

/** A repair that was tried on a copy. */
export interface RepairPlan extends Omit<Repair, 'applied'> {
  readonly losses: Losses;
  /** Puts the repaired files in place of the damaged ones. */
  apply(): Promise<void>;
  /** Removes the copy. */
  discard(): void;
}

/** Problems that the next opening sets aside by itself. */
const LEFTOVERS = new Set(['torn', 'stale']);

export async function planRepair(
  place: RepairPlace,
  id: string,
  from: AsyncIterable<string> | undefined,
): Promise<RepairPlan> {
  const { layout, disk, blobs, index } = place;
  const before = await verifySession(layout, blobs, index, id);
  const session = layout.session(id);
  const copy = new CopyLayout(layout, id);
  const kept = copy.session(id);
  mkdirSync(kept.log, { recursive: true, mode: FOLDER_MODE });
  const discard = (): void => rmSync(kept.folder, { recursive: true, force: true });
  try {
    const spare = from && (await readSpare(from, id, before.problems, await wholeNumbers(layout, id)));
    const { actions, lost, changed } = await writeCopy(place, id, kept, spare);
    const header = await copyHeader(place, id, kept, before.problems);
    if (header) actions.push(header);
    const found = await verifySession(copy, blobs, index, id);
    const restored = blobsToReplace(found.problems, spare);
    actions.push(...blobActions(layout, found.problems, restored));
    const left = found.problems.filter(({ file }) => restored.get(blobName(file)) === undefined);
    refuseOthers(session, left);
    actions.push(
      ...left.filter(({ kind }) => !kind.startsWith('blob-') && kind !== 'lost' && kind !== 'gap'),
    );
    const inherited = await inheritedLosses(found.losses ?? [], await partsOf(copy, id));
    actions.push(
      ...inherited.map((one) => ({
        ...one,
        message: `${one.message}, as its parent says; put on record here`,
      })),
    );
    const losses = lossesOf([...left, ...inherited], lost);
    const known = new KnownLosses();
    known.add({ lost: losses });
    return {
      session: id,
      problems: before.problems,
      actions,
      losses,
      after: {
        ...found,
        ok: true,
        problems: [],
        losses: [...(found.losses ?? []), ...left.filter((one) => known.knows(one))],
      },
      discard,
      apply: async () => {
        mkdirSync(session.quarantine, { recursive: true, mode: FOLDER_MODE });
        for (const segment of changed) await replaceSegment(disk, session, kept, segment);
        if (header) {
          moveAside(session, session.head);
          await disk.rename(kept.head, session.head);
        }
        for (const [sha256, bytes] of restored) {
          moveAside(session, layout.blob(sha256));
          rmSync(layout.blob(sha256), { force: true });
          if (bytes) blobs.keep(sha256, bytes);
        }
        await blobs.flush();
        for (const folder of [session.log, session.quarantine, session.folder]) await disk.syncFolder(folder);
        discard();
      },
    };
  } catch (error) {
    discard();
    throw error;
  }
}

/** The store with one session's folder replaced by its repaired copy. */
class CopyLayout extends Layout {
  readonly #id: string;
  readonly #folder: string;

  constructor(layout: Layout, id: string) {
    super(layout.root);
    this.#id = id;
    this.#folder = join(layout.sessions, `.repair-${id}-${randomBytes(4).toString('hex')}`);
  }

  override session(id: string): SessionLayout {
    return id === this.#id ? new SessionLayout(this.#folder) : super.session(id);
  }
}

async function wholeNumbers(layout: Layout, id: string): Promise<Set<number>> {
  const whole = new Set<number>();
  for (const part of await partsOf(layout, id))
    for await (const lines of scanPart(part))
      for (const { checked } of lines) if (checked.whole && checked.head) whole.add(checked.head.seq);
  return whole;
}

/** Writes every segment of the log, mended, into the copy. `changed` are those that are not what they were. */
async function writeCopy(
  { layout, disk }: RepairPlace,
  id: string,
  kept: SessionLayout,
  spare: Spare | undefined,
): Promise<{ actions: Problem[]; lost: readonly LostRange[]; changed: readonly Segment[] }> {
  const own = await ownPart(layout, id);
  const chain = new Chain(own.first, own.hash);
  const last = own.layout.segments().at(-1);
  const openSegment = last?.sealed === false ? last : undefined;
  const fallback = { first: own.first, path: own.layout.segment(own.first), sealed: false };
  const mending = new Mending({ expected: chain.expected, hash: chain.hash, spare, openSegment, fallback });
  const changed: Segment[] = [];
  const write = async (all: boolean): Promise<void> => {
    for (const { segment, lines } of mending.finished(all)) {
      if (lines === undefined) {
        if (statIfThere(segment.path)?.isFile())
          copyOrLink(segment.path, join(kept.log, basename(segment.path)));
        continue;
      }
      changed.push(segment);
      if (lines.length === 0) continue;
      await placeFile(disk, kept.segment(segment.first), Buffer.concat(lines));
      if (segment.sealed) await sealSegment(disk, kept, segment.first);
    }
  };
  for await (const lines of scanPart(own, {}, chain)) {
    for (const line of lines) mending.take(line);
    await write(false);
  }
  mending.end();
  await write(true);
  return { actions: mending.actions, lost: mending.lost, changed };
}

async function ownPart(layout: Layout, id: string): Promise<SessionPart> {
  return (await partsOf(layout, id)).at(-1) as SessionPart;
}

/** The header into the copy; rebuilt from the first event, and named, when it is not what that says. */
async function copyHeader(
  { layout, disk }: RepairPlace,
  id: string,
  kept: SessionLayout,
  problems: readonly Problem[],
): Promise<Problem | undefined> {
  const session = layout.session(id);
  if (!problems.some(({ kind }) => kind === 'head')) {
    if (statIfThere(session.head)?.isFile()) copyOrLink(session.head, kept.head);
    return undefined;
  }
  for await (const lines of scanPart(await ownPart(layout, id))) {
    for (const { checked, bytes } of lines) {
      if (!checked.whole || checked.head?.type !== 'session.opened') continue;
      await placeFile(disk, kept.head, Buffer.from(`${stringifyJson(decodeLine(bytes).event.data)}\n`));
      return { kind: 'head', message: 'head.json is written anew from the first event', file: 'head.json' };
    }
  }
  return undefined;
}

/** Values that are damaged or missing: their bytes where the bundle has them, undefined where there is only a file to move away. */
function blobsToReplace(
  problems: readonly Problem[],
  spare: Spare | undefined,
): Map<string, Buffer | undefined> {
  const replace = new Map<string, Buffer | undefined>();
  for (const { kind, file } of problems) {
    const sha256 = blobName(file);
    const bytes = spare?.blobs.get(sha256);
    if (kind.startsWith('blob-') && (bytes || kind === 'blob-damaged')) replace.set(sha256, bytes);
  }
  return replace;
}

function blobActions(
  layout: Layout,
  problems: readonly Problem[],
  restored: ReadonlyMap<string, Buffer | undefined>,
): Problem[] {
  return problems.flatMap(({ kind, file }) => {
    if (!kind.startsWith('blob-')) return [];
    const sha256 = blobName(file);
    const place = { file: layout.blob(sha256) };
    return restored.get(sha256)
      ? [{ kind: 'restored', message: `value ${sha256} comes back from the bundle`, ...place }]
      : [{ kind: 'lost', message: `value ${sha256} is lost`, ...place }];
  });
}

function lossesOf(problems: readonly Problem[], lost: readonly LostRange[]): Losses {
  const events = problems.flatMap(({ kind, seq, digest }) => {
    if ((kind !== 'lost' && kind !== 'gap') || seq === undefined || digest === undefined) return [];
    return [{ from: seq, to: lost.find(({ from }) => from === seq)?.to ?? seq, digest }];
  });
  const blobs = problems.filter(({ kind }) => kind.startsWith('blob-')).map(({ file }) => blobName(file));
  return { events, blobs };
}

/** @throws ChassisError DamagedRecord for what a repair of this session cannot put right */
function refuseOthers(session: SessionLayout, problems: readonly Problem[]): void {
  const last = session.segments().at(-1);
  const other = problems.find(
    ({ kind, file }) =>
      !LEFTOVERS.has(kind) &&
      !kind.startsWith('blob-') &&
      !['lost', 'gap', 'truncated'].includes(kind) &&
      // Behind the last whole line of the open segment it is set aside like a torn one.
      !(last && !last.sealed && file === basename(last.path)),
  );
  if (other === undefined) return;
  const parent = other.kind === 'parent' ? '; repair its parent first' : '';
  throw new ChassisError(
    'DamagedRecord',
    `this cannot be repaired here: ${describeProblem(other)}${parent}`,
    {
      data: { problems: [other] },
    },
  );
}

async function replaceSegment(
  disk: Disk,
  session: SessionLayout,
  kept: SessionLayout,
  { path, sealed, first }: Segment,
): Promise<void> {
  moveAside(session, path);
  const made = join(kept.log, basename(path));
  if (existsSync(made)) await disk.rename(made, path);
  else rmSync(path, { force: true });
  if (!sealed) return;
  rmSync(session.segment(first), { force: true });
  if (existsSync(offsetTable(made))) await disk.rename(offsetTable(made), offsetTable(path));
}

/** Keeps a file under another name; it stays in its place until something is put there. */
function moveAside(session: SessionLayout, path: string): void {
  if (!existsSync(path)) return;
  mkdirSync(session.quarantine, { recursive: true, mode: FOLDER_MODE });
  const kept = join(session.quarantine, quarantineName(path));
  // A folder or a pipe where a file should be.
  if (statSync(path).isFile()) copyOrLink(path, kept);
  else renameSync(path, kept);
}

function quarantineName(path: string): string {
  return `${basename(path)}.${Date.now()}-${randomBytes(3).toString('hex')}`;
}

function copyOrLink(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw error;
    copyFileSync(from, to);
  }
}
