/**
 * The state of a session at an event without folding everything before it: from the nearest snapshot, and the heads of
 * the events behind it.
 *
 * Promise: what is not whole is not used: it stops before the first event that cannot be read, and says why there was no
 * nearer snapshot. Values are read when somebody looks at them.
 */

import { hashesIn, type Resolve } from '../blob-ref.ts';
import type { SessionHeader } from '../event.ts';
import { decodeLine, GENESIS } from '../line.ts';
import type { Problem } from '../problem.ts';
import { Past, type PastEvent } from '../state/past.ts';
import { Trail, type TrailState } from '../state/trail.ts';
import { Tally } from '../tally.ts';
import { statIfThere } from './disk.ts';
import { type Blocks, EventFiles, type PlacedLine } from './event-files.ts';
import type { Layout } from './layout.ts';
import type { ScanRange } from './log-scan.ts';
import type { SessionPart } from './session-files.ts';
import { type Anchor, type SavedState, type Snapshot, SnapshotFile } from './snapshot-file.ts';

/** What readers of one store share: snapshots that were looked at, and blocks of logs. */
export interface Shelf {
  readonly blocks: Blocks;
  snapshots(id: string): SnapshotFile;
}

export function newShelf(layout: Layout, blocks: Blocks): Shelf {
  const files = new Map<string, SnapshotFile>();
  return {
    blocks,
    snapshots(id) {
      const file = files.get(id) ?? new SnapshotFile(layout.session(id));
      files.set(id, file);
      return file;
    },
  };
}

/** A place in a log, and all that is known there. */
export interface History {
  readonly trail: Trail;
  readonly past: Past;
  /** Hash of the trail's last event. */
  readonly hash: string;
  /** Where the line of that event ends; undefined before the first. */
  readonly end: PlacedLine | undefined;
  readonly tally: Tally;
  /** Whether that event is one of the session's own. */
  readonly begun: boolean;
  readonly problems: readonly Problem[];
  /** The last event of the snapshot that it started from, −1 without one, and the files that the snapshot needs. */
  readonly from: number;
  readonly foreign: readonly Anchor[];
  /** As `session.opened` says; the event wins over `head.json`. */
  readonly header: SessionHeader;
}

export interface HistoryOptions {
  /** The last event that is wanted. */
  readonly to?: number | undefined;
  /** Blobs that lines refer to, as they are met. */
  readonly onBlob?: (sha256: string, seq: number) => void;
  /** Damage that is met now or later. */
  readonly tell?: (problem: Problem) => void;
}

/** Bytes of log that are folded as they are, and how many times smaller they are when sealed. */
const LONG_BYTES = 32 * 1024 * 1024;
const PACKED = 4;

const BRACE = 0x7b;

/** Lines between two breaths, so that other work of the process goes on. */
const BREATH = 4096;

export async function historyOf(
  parts: readonly SessionPart[],
  shelf: Shelf,
  resolve: Resolve,
  { to = Number.POSITIVE_INFINITY, onBlob, tell }: HistoryOptions = {},
): Promise<History> {
  const own = parts.at(-1) as SessionPart;
  const files = new EventFiles(parts, shelf.blocks, tell);
  const problems: Problem[] = [];
  const near = nearest(parts, to, shelf, problems);
  const trail = newTrail(shelf, near?.state.trail);
  const tally = new Tally(own.header, near?.part === own ? near.state.tally : undefined);
  let end = trail.seq < 0 ? undefined : files.line(trail.seq);
  let read = 0;
  while (trail.seq < to && !trail.broken) {
    const line = files.line(trail.seq + 1);
    if (
      line === undefined ||
      !take(line, trail, resolve, trail.seq + 1 >= own.first ? tally : undefined, onBlob)
    )
      break;
    end = line;
    if (++read % BREATH === 0) await new Promise((done) => setImmediate(done));
  }
  return {
    trail,
    past: new Past(trail, (seq, lean) => pastEvent(files.line(seq), lean, resolve)),
    hash: end?.hash ?? GENESIS,
    end,
    tally,
    begun: trail.seq >= own.first,
    problems,
    from: near?.snapshot.seq ?? -1,
    foreign: near === undefined ? [] : anchors(near, own.id),
    header: trail.seq < own.first ? own.header : headerIn(files.line(own.first), own),
  };
}

/** Whether a log is so long that reading all of it is worth avoiding, or has what makes it unnecessary. */
function isLong(parts: readonly SessionPart[], shelf: Shelf): boolean {
  if (parts.some(({ id }) => shelf.snapshots(id).exists())) return true;
  let bytes = 0;
  for (const { layout } of parts)
    for (const { path, sealed } of layout.segments())
      bytes += (statIfThere(path)?.size ?? 0) * (sealed ? PACKED : 1);
  return bytes > LONG_BYTES;
}

/** The history when it can be built upon. */
export async function usableHistory(...args: Parameters<typeof historyOf>): Promise<History | undefined> {
  const [parts, shelf] = args;
  if (!isLong(parts, shelf)) return undefined;
  const history = await historyOf(...args);
  return history.trail.broken || history.trail.seq < 0 ? undefined : history;
}

/** What is left to read of a part behind a history. */
export function rangeBehind(history: History | undefined, part: SessionPart, to?: number): ScanRange {
  const bound = to === undefined ? {} : { to };
  if (history?.end === undefined) return bound;
  const { segment, end } = history.end;
  const { seq } = history.trail;
  const resume = part.first <= seq && { resume: { first: segment.first, offset: end } };
  return { ...bound, from: seq + 1, ...resume };
}

/** A trail whose pages are given back their memory when they were saved. */
export function newTrail(shelf: Shelf, saved?: TrailState): Trail {
  return new Trail(saved, (ref) => shelf.snapshots(ref.session).node(ref));
}

/** What a new trail's values are read from. */
export function pastOf(trail: Trail, parts: readonly SessionPart[], shelf: Shelf, resolve: Resolve): Past {
  const files = new EventFiles(parts, shelf.blocks);
  return new Past(trail, (seq, lean) => pastEvent(files.line(seq), lean, resolve));
}

function headerIn(line: PlacedLine | undefined, { id, header }: SessionPart): SessionHeader {
  const event = line && decodeLine(line.bytes, false, line).event;
  return event?.type === 'session.opened' && event.session === id
    ? (event.data as unknown as SessionHeader)
    : header;
}

/** Notes one line, parsed only when its head does not say enough. False for one that cannot be parsed. */
function take(
  { bytes, head, hash }: PlacedLine,
  trail: Trail,
  resolve: Resolve,
  tally: Tally | undefined,
  onBlob: HistoryOptions['onBlob'],
): boolean {
  if (onBlob && bytes.includes('"$blob"')) for (const sha256 of hashesIn(bytes)) onBlob(sha256, head.seq);
  const needed =
    Trail.needsData(head.type) ||
    (head.type === 'step.finished' && bytes.includes('"effects":')) ||
    bytes[head.dataAt] !== BRACE;
  const counted = tally !== undefined && Tally.needs(head.type);
  if (!needed && !counted) {
    trail.noteHead(head);
    tally?.add(head);
    return true;
  }
  try {
    const { event, refs, large } = decodeLine(bytes, true, { head, hash });
    trail.note(event, refs ? resolve : undefined, large);
    tally?.add(head, event);
    return true;
  } catch {
    // Whoever reads it next says what is wrong with it.
    return false;
  }
}

function pastEvent(line: PlacedLine | undefined, lean: boolean, resolve: Resolve): PastEvent | undefined {
  if (line === undefined) return undefined;
  const { event, refs, large } = decodeLine(line.bytes, lean, line);
  return { event, resolve: refs ? resolve : undefined, large };
}

interface Near {
  readonly part: SessionPart;
  readonly snapshot: Snapshot;
  readonly state: SavedState;
}

/** How far the last snapshot of a session's own part counted, and where the log goes on behind it. */
export function tallyNear(
  part: SessionPart,
  shelf: Shelf,
): (Pick<SavedState, 'hash' | 'tally'> & { readonly end: PlacedLine }) | undefined {
  const near = nearest([part], Number.POSITIVE_INFINITY, shelf, []);
  const end = near && new EventFiles([part], shelf.blocks).line(near.snapshot.seq);
  return near && end && { hash: near.state.hash, tally: near.state.tally, end };
}

/** The last snapshot up to an event that the log vouches for. */
function nearest(
  parts: readonly SessionPart[],
  to: number,
  shelf: Shelf,
  problems: Problem[],
): Near | undefined {
  for (const part of parts.toReversed()) {
    const file = shelf.snapshots(part.id);
    const usable = file.all().filter(({ seq }) => part.first <= seq && seq <= Math.min(to, part.last));
    if (file.damage !== undefined) problems.push(file.damage);
    // A fork may have left its parent right behind a snapshot: the event that vouches for it is the parent's own.
    const files = new EventFiles([{ ...part, last: Number.POSITIVE_INFINITY }], shelf.blocks);
    for (const snapshot of usable.toReversed()) {
      const state = vouched(file, snapshot, files, shelf);
      if (typeof state === 'object') return { part, snapshot, state };
      if (state === 'refused')
        problems.push({
          kind: 'snapshot',
          message: `the log does not vouch for the snapshot of event ${snapshot.seq}`,
          file: 'snapshots',
          offset: snapshot.at,
          length: snapshot.length,
        });
    }
  }
  return undefined;
}

/** `early`: the event behind it has not reached the log. */
function vouched(
  file: SnapshotFile,
  snapshot: Snapshot,
  files: EventFiles,
  shelf: Shelf,
): SavedState | 'early' | 'refused' {
  try {
    const line = files.line(snapshot.seq + 1);
    if (line === undefined) return 'early';
    const { event } = decodeLine(line.bytes, false, line);
    const { state: said } = event.data as { state?: unknown };
    if (event.type !== 'snapshot.taken' || said !== file.hashOf(snapshot)) return 'refused';
    const state = file.root(snapshot);
    const holds = state.foreign.every(({ session, at, chain }) =>
      shelf
        .snapshots(session)
        .all()
        .some((one) => one.at === at && one.chain === chain),
    );
    return state.v === 1 && state.trail.seq === snapshot.seq && holds ? state : 'refused';
  } catch {
    return 'refused';
  }
}

/** The files that a snapshot on top of this one needs, as seen from a session. */
function anchors({ part, snapshot, state }: Near, session: string): readonly Anchor[] {
  if (part.id === session) return state.foreign;
  return [...state.foreign, { session: part.id, at: snapshot.at, chain: snapshot.chain }];
}
