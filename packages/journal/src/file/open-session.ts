/**
 * Opens a session for writing: reads and checks it, of a long one what is behind its last snapshot, sets aside what a
 * crash left behind, and goes on after the last whole line.
 *
 * Promise: nothing is ever appended to half a line; nothing is deleted, only moved to `quarantine/` and reported; damage in
 * the middle is not written over without `force`.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { Chain } from '../chain.ts';
import type { SessionHeader } from '../event.ts';
import { Fold } from '../fold.ts';
import { decodeLine, GENESIS } from '../line.ts';
import { KnownLosses } from '../lost.ts';
import type { Problem } from '../problem.ts';
import type { Trail } from '../state/trail.ts';
import { Tally } from '../tally.ts';
import type { BlobFiles } from './blob-files.ts';
import { type Disk, FOLDER_MODE, mustBeFile, placeFile } from './disk.ts';
import { type History, newTrail, pastOf, rangeBehind, type Shelf, usableHistory } from './history.ts';
import type { Layout, Segment, SessionLayout } from './layout.ts';
import type { ScannedLine } from './log-scan.ts';
import { unrecorded } from './recorded-losses.ts';
import { partsOf, scanPart } from './session-files.ts';

/** Everything known about a session after it was read. */
export interface LoadedSession {
  readonly header: SessionHeader;
  readonly fold: Fold;
  readonly trail: Trail;
  /** The last snapshot's last event, and the files of other sessions that the next one needs. */
  readonly snapshots: Pick<History, 'from' | 'foreign'>;
  readonly tally: Tally;
  readonly seq: number;
  readonly hash: string;
  /** Whether the session has events of its own. */
  readonly begun: boolean;
  readonly end: { readonly segment: Segment; readonly offset: number } | undefined;
  /** Damage before the last whole line. */
  readonly damage: readonly Problem[];
  /** Lines after the last whole one, and lines of a writer that had lost its lock. */
  readonly leftovers: readonly ScannedLine[];
}

/** @param whole read and check all of it, however long it is */
export async function loadSession(
  layout: Layout,
  blobs: BlobFiles,
  shelf: Shelf,
  id: string,
  whole = false,
): Promise<LoadedSession> {
  const parts = await partsOf(layout, id);
  const own = parts.at(-1);
  if (!own || own.id !== id) throw new ChassisError('InternalError', `session ${id} has no part of its own`);
  const history = whole ? undefined : await usableHistory(parts, shelf, blobs.resolve);
  const trail = history?.trail ?? newTrail(shelf);
  const from = trail.seq + 1;
  const past = history?.past ?? pastOf(trail, parts, shelf, blobs.resolve);
  const fold = new Fold(history?.header ?? own.header, past);
  const tally = history?.tally ?? new Tally(own.header);
  const chain = new Chain(from, history?.hash ?? GENESIS);
  const damage: Problem[] = [];
  const known = new KnownLosses();
  const stale: ScannedLine[] = [];
  let tail: ScannedLine[] = [];
  let begun = history?.begun ?? false;
  const start = history?.end;
  let end: LoadedSession['end'] = begun && start ? { segment: start.segment, offset: start.end } : undefined;
  for (const part of parts.filter(({ last }) => last >= from)) {
    for await (const lines of scanPart(part, rangeBehind(history, part), chain)) {
      for (const line of lines) {
        const { checked, problem } = line;
        if (!checked.whole) {
          if (checked.problem?.kind === 'stale') stale.push(line);
          else tail.push(line);
          continue;
        }
        for (const { problem: before } of tail) if (before) damage.push(before);
        tail = [];
        if (problem) damage.push(problem);
        const { event, refs, large } = decodeLine(line.bytes, true, checked);
        fold.apply(event, refs ? blobs.resolve : undefined, large);
        if (event.type === 'session.repaired') known.add(event.data);
        if (part !== own) continue;
        begun = true;
        tally.add(event, event);
        end = { segment: line.segment, offset: line.offset + line.bytes.length + 1 };
      }
    }
    if (part === own) break;
    // A fork needs its parent only up to the fork point; what is damaged there is damage.
    for (const { problem } of tail) if (problem) damage.push(problem);
    tail = [];
  }
  const lastSegment = own.layout.segments().at(-1);
  const isTail = ({ segment }: ScannedLine): boolean =>
    !segment.sealed && segment.first === lastSegment?.first;
  for (const line of tail) if (!isTail(line) && line.problem) damage.push(line.problem);
  const leftovers = [...stale, ...tail.filter(isTail)];
  return {
    header: own.header,
    fold,
    trail,
    snapshots: history ?? { from: -1, foreign: [] },
    tally,
    seq: chain.expected,
    hash: chain.hash,
    begun,
    end,
    damage: await unrecorded(damage, parts, known),
    leftovers,
  };
}

/** Moves leftovers to the quarantine and cuts the files back to whole lines. */
export async function setAside(
  disk: Disk,
  session: SessionLayout,
  leftovers: readonly ScannedLine[],
): Promise<Record<string, Json>[]> {
  const starts = new Map<string, ScannedLine>();
  for (const line of leftovers) {
    const known = starts.get(line.segment.path);
    if (!line.segment.sealed && (!known || line.offset < known.offset)) starts.set(line.segment.path, line);
  }
  const reports: Record<string, Json>[] = [];
  for (const [path, { offset, checked }] of starts) {
    mkdirSync(session.quarantine, { recursive: true, mode: FOLDER_MODE });
    const bytes = readFrom(path, offset);
    const name = `${basename(path)}.${offset}.${Date.now()}`;
    await placeFile(disk, join(session.quarantine, name), bytes);
    await disk.syncFolder(session.quarantine);
    const fd = await disk.open(path, 'r+');
    try {
      await disk.truncate(fd, offset);
      await disk.datasync(fd);
    } finally {
      await disk.close(fd);
    }
    reports.push({
      kind: checked.problem?.kind ?? 'torn',
      file: basename(path),
      offset,
      length: bytes.length,
      quarantine: name,
    });
  }
  return reports;
}

/** Segments without a line would take the name of the next one. */
export function dropEmpty(session: SessionLayout): void {
  for (const { path, sealed } of session.segments()) if (!sealed && statSync(path).size === 0) rmSync(path);
}

function readFrom(path: string, offset: number): Buffer {
  const length = Math.max(0, statSync(path).size - offset);
  const bytes = Buffer.alloc(length);
  mustBeFile(path);
  const fd = openSync(path, 'r');
  try {
    for (let done = 0; done < length; ) {
      const read = readSync(fd, bytes, done, length - done, offset + done);
      if (read === 0) return bytes.subarray(0, done);
      done += read;
    }
  } finally {
    closeSync(fd);
  }
  return bytes;
}
