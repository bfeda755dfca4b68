/**
 * Listings: a few numbers of each session, from the index where it still fits the files, else from the log, going on where
 * the index ended.
 *
 * Promise: a session is listed even when it cannot be opened, with the reason.
 */

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { toChassisError } from '@chassis/errors';
import { Chain } from '../chain.ts';
import type { SessionHeader } from '../event.ts';
import { decodeLine } from '../line.ts';
import { KnownLosses } from '../lost.ts';
import { describeProblem, type Problem } from '../problem.ts';
import type { SessionSummary } from '../store.ts';
import { listedOutcome, Tally } from '../tally.ts';
import { statIfThere } from './disk.ts';
import { type Shelf, tallyNear } from './history.ts';
import type { IndexDb, IndexRow } from './index-db.ts';
import type { Layout, Segment, SessionLayout } from './layout.ts';
import { liveness, readHolder } from './lock.ts';
import { scanLog } from './log-scan.ts';
import { missingEnd, readHeader } from './session-files.ts';

/** Summaries, newest first. */
export async function listSessions(layout: Layout, index: IndexDb, shelf: Shelf): Promise<SessionSummary[]> {
  const known = index.all();
  const changed: IndexRow[] = [];
  const summaries: SessionSummary[] = [];
  for (const id of layout.ids()) {
    const row = known.get(id);
    known.delete(id);
    try {
      const header = await readHeader(layout, id);
      const fresh = await currentRow(layout.session(id), header, row, shelf);
      if (fresh !== row) changed.push(fresh);
      summaries.push(summarise(layout.session(id), header, fresh));
    } catch (error) {
      summaries.push(unreadable(layout.session(id), id, toChassisError(error).message));
    }
  }
  index.put(changed);
  for (const gone of known.keys()) index.remove(gone);
  return summaries.sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
}

/** Whether a living process writes the session. */
export function isAlive(session: SessionLayout): boolean {
  const holder = readHolder(session.lock);
  return holder !== undefined && liveness(holder) !== 'dead';
}

async function currentRow(
  session: SessionLayout,
  header: SessionHeader,
  row: IndexRow | undefined,
  shelf: Shelf,
): Promise<IndexRow> {
  const stamp = stampOf(session);
  if (row && row.segment === stamp.segment && row.size === stamp.size && row.mtime === stamp.mtime)
    return row;
  // A file that changed without growing was not just appended to, and what was damaged may have been put right.
  if (row && row.problem === null && (row.segment !== stamp.segment || stamp.size > row.size)) {
    const near = snapshotRow(session, header, stamp, shelf);
    const grown = await readOn(
      session,
      header,
      stamp,
      near && near.tallied.seq > row.tallied.seq ? near : row,
    );
    if (grown) return grown;
  }
  const near = row === undefined ? snapshotRow(session, header, stamp, shelf) : undefined;
  const fresh =
    (near && (await readOn(session, header, stamp, near))) ??
    (await readOn(session, header, stamp, undefined));
  if (!row || !fresh || fresh.tallied.seq >= row.tallied.seq) return fresh as IndexRow;
  // The old row stays, so that `verify` can still tell how far the log once reached.
  const lost = row.tallied.seq - fresh.tallied.seq;
  return {
    ...row,
    segment: stamp.segment,
    size: stamp.size,
    mtime: stamp.mtime,
    problem: fresh.problem ?? describeProblem(missingEnd(session, lost, fresh.tallied.seq + 1)),
  };
}

/** What the last snapshot says, in the form of a row: of a long log only what is behind it is read. */
function snapshotRow(
  layout: SessionLayout,
  header: SessionHeader,
  stamp: Stamp,
  shelf: Shelf,
): IndexRow | undefined {
  const { id, parent } = header;
  const first = layout.segments()[0]?.first ?? 0;
  const hash = first > 0 ? parent?.hash : undefined;
  const near = tallyNear({ id, layout, header, first, last: Number.POSITIVE_INFINITY, hash }, shelf);
  if (near === undefined) return undefined;
  const place = { first: near.end.segment.first, offset: near.end.end, hash: near.hash };
  return { id, ...stamp, ...place, tallied: near.tally, problem: null };
}

/** Reads a log from its beginning, or from where a row ended; undefined when what the row says does not fit the log. */
async function readOn(
  session: SessionLayout,
  header: SessionHeader,
  stamp: Stamp,
  row: IndexRow | undefined,
): Promise<IndexRow | undefined> {
  const segments = session.segments();
  const begin = segments[0]?.first ?? 0;
  const from = row ? row.tallied.seq + 1 : begin;
  let first = row?.first ?? begin;
  let offset = row?.offset ?? 0;
  let chain = header.parent && begin > 0 ? new Chain(begin, header.parent.hash) : new Chain();
  if (row) {
    const segment = segments.find((one) => one.first === row.first);
    if (!segment || (!segment.sealed && statSync(segment.path).size < row.offset)) return undefined;
    chain = new Chain(from, row.hash);
  }
  const tally = new Tally(header, row?.tallied);
  const known = new KnownLosses();
  const problems: Problem[] = [];
  for await (const lines of scanLog(session, chain, { from, resume: { first, offset } })) {
    for (const { checked, bytes, segment, offset: start, problem: found } of lines) {
      if (found && found.kind !== 'torn') problems.push(found);
      const { head } = checked;
      if (!checked.whole || !head) {
        if (row && found?.kind === 'hash') return undefined;
        continue;
      }
      if (head.seq < from) continue;
      const { event } = Tally.needs(head.type) ? decodeLine(bytes, true, checked) : { event: undefined };
      if (head.type === 'session.repaired') known.add(decodeLine(bytes, true, checked).event.data);
      tally.add(head, event);
      first = segment.first;
      offset = start + bytes.length + 1;
    }
  }
  const open = problems.find((one) => !known.knows(one));
  const problem = row?.problem ?? (open ? describeProblem(open) : null);
  return { id: header.id, ...stamp, first, offset, hash: chain.hash, tallied: tally.value(), problem };
}

interface Stamp {
  readonly segment: string;
  readonly size: number;
  readonly mtime: number;
}

/** Name, size and time of the newest segment. */
export function stampOf(session: SessionLayout): Stamp {
  const last = session.segments().at(-1);
  if (!last) return { segment: '', size: 0, mtime: 0 };
  const { size, mtimeMs } = statSync(last.path);
  return { segment: basename(last.path), size, mtime: mtimeMs };
}

function summarise(session: SessionLayout, header: SessionHeader, row: IndexRow): SessionSummary {
  const { tallied } = row;
  return {
    id: header.id,
    title: header.title,
    created: header.created,
    updated: tallied.updated,
    outcome: listedOutcome(tallied, isAlive(session)),
    steps: tallied.steps,
    events: tallied.seq + 1,
    bytes: bytesOf(session),
    model: header.model?.name ?? '',
    agent: header.agent?.agent ?? '',
    tokens: tallied.tokens,
    cost_usd: tallied.cost_usd,
    workspace: header.workspace,
    ...(header.parent ? { parent: { session: header.parent.session, step: header.parent.step } } : {}),
    ...(row.problem === null ? {} : { problem: row.problem }),
  };
}

function unreadable(session: SessionLayout, id: string, problem: string): SessionSummary {
  const time = statIfThere(session.folder)?.mtimeMs ?? 0;
  return {
    id,
    title: '',
    created: Math.round(time),
    updated: Math.round(time),
    outcome: 'unreadable',
    steps: 0,
    events: 0,
    bytes: bytesOf(session),
    model: '',
    agent: '',
    tokens: { input: 0, output: 0 },
    cost_usd: null,
    workspace: '',
    problem,
  };
}

function bytesOf(session: SessionLayout): number {
  const size = ({ path }: Pick<Segment, 'path'>): number => statIfThere(path)?.size ?? 0;
  let segments: readonly Segment[] = [];
  try {
    segments = session.segments();
  } catch {
    // Why the session cannot be read is told already.
  }
  return segments.reduce((sum, segment) => sum + size(segment), size({ path: session.head }));
}
