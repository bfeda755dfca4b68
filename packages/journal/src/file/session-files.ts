/**
 * One session as files, for reading: its header, its joined log (the parents' prefix first), its lines.
 *
 * Promise: reading takes no lock and changes nothing; damage costs only the damaged events.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { Chain } from '../chain.ts';
import { damagedRecord } from '../damaged-record.ts';
import type { SessionHeader } from '../event.ts';
import { parseJson } from '../json.ts';
import { decodeLine } from '../line.ts';
import type { Problem } from '../problem.ts';
import { checkVersion } from '../upgrade.ts';
import { readFile, statIfThere } from './disk.ts';
import type { Layout, SessionLayout } from './layout.ts';
import { type ScannedLine, type ScanRange, scanLog } from './log-scan.ts';

/** How many forks deep a session may be. */
const MAX_ANCESTORS = 1000;

const NO_HEADER = 'bring it back with chassis import from a bundle, after chassis rm';
const NO_PARENT = 'bring the parent back with chassis import from a bundle';

export interface SessionPart {
  readonly id: string;
  readonly layout: SessionLayout;
  readonly header: SessionHeader;
  /** First and last event that this part gives to the joined log. */
  readonly first: number;
  readonly last: number;
  /** Hash before `first`. */
  readonly hash: string | undefined;
}

/**
 * The header: `head.json`, or the first event when that is missing or damaged.
 * @throws ChassisError InvalidParams for a newer format, DamagedRecord when there is no header at all
 */
export async function readHeader(layout: Layout, id: string): Promise<SessionHeader> {
  const session = layout.session(id);
  const header = headIn(session.head) ?? (await headerFromLog(session));
  if (header === undefined) {
    const what =
      existsSync(session.head) || session.segments().length > 0
        ? 'its header is damaged'
        : 'it has no header';
    const problem = { kind: 'head', message: what, file: session.head };
    throw damagedRecord(id, `session ${id} cannot be opened`, [problem], NO_HEADER);
  }
  checkVersion(header.v, `session ${id}`);
  return header;
}

/** What `head.json` says; undefined when it is missing, unreadable or no header: the first event has it too. */
function headIn(path: string): SessionHeader | undefined {
  try {
    const header = parseJson(readFile(path).toString('utf8')) as unknown as Partial<SessionHeader> | null;
    return typeof header?.id === 'string' && typeof header.v === 'number'
      ? (header as SessionHeader)
      : undefined;
  } catch {
    return undefined;
  }
}

async function headerFromLog(session: SessionLayout): Promise<SessionHeader | undefined> {
  const [first] = session.segments();
  if (!first) return undefined;
  for await (const lines of scanLog(session, Chain.from(first.first))) {
    for (const { checked, bytes } of lines) {
      if (checked.whole && checked.head?.type === 'session.opened') {
        return decodeLine(bytes).event.data as unknown as SessionHeader;
      }
    }
    return undefined;
  }
  return undefined;
}

/**
 * The parts that a session's events come from, oldest first. An imported fork may hold its parents' prefix itself.
 * @throws ChassisError DamagedRecord when a parent is missing or the links go round in a circle
 */
export async function partsOf(layout: Layout, id: string): Promise<SessionPart[]> {
  const parts: SessionPart[] = [];
  let last = Number.POSITIVE_INFINITY;
  const seen = new Set<string>();
  for (let current: string | undefined = id; current !== undefined; ) {
    if (seen.has(current) || seen.size >= MAX_ANCESTORS) {
      const message = seen.has(current)
        ? `its parents go round in a circle at ${current}`
        : `it has more than ${MAX_ANCESTORS} parents above it`;
      throw damagedRecord(id, `session ${id} cannot be read`, [{ kind: 'parent', message }], NO_PARENT);
    }
    seen.add(current);
    if (current !== id && !existsSync(layout.session(current).folder)) {
      const message = `it needs its parent ${current}, which is not there`;
      throw damagedRecord(id, `session ${id} cannot be read`, [{ kind: 'parent', message }], NO_PARENT);
    }
    const header: SessionHeader = await readHeader(layout, current);
    const session = layout.session(current);
    const { parent } = header;
    const ownFirst = session.segments()[0]?.first ?? (parent ? parent.seq + 1 : 0);
    const whole = !parent || ownFirst === 0;
    const first = whole ? 0 : parent.seq + 1;
    const hash = whole ? undefined : parent.hash;
    if (first <= last) parts.unshift({ id: current, layout: session, header, first, last, hash });
    current = whole ? undefined : parent.session;
    if (!whole) last = Math.min(last, parent.seq);
  }
  return parts;
}

/** What is missing behind the last line of a log that once reached further. */
export function missingEnd(layout: SessionLayout, lost: number, seq: number): Problem {
  const last = layout.segments().at(-1);
  const offset = last && !last.sealed ? { offset: statIfThere(last.path)?.size ?? 0 } : {};
  const place = last === undefined ? {} : { file: basename(last.path), ...offset };
  const message = `${lost} ${lost === 1 ? 'event is' : 'events are'} missing at the end: the log once reached further`;
  return { kind: 'truncated', message, ...place, seq };
}

/** A part's lines within a range. From its beginning they are checked against what came before. */
export async function* scanPart(
  part: SessionPart,
  range: ScanRange = {},
  chain?: Chain,
): AsyncGenerator<ScannedLine[]> {
  const from = Math.max(range.from ?? 0, part.first);
  const to = Math.min(range.to ?? Number.POSITIVE_INFINITY, part.last);
  if (from > to) return;
  const start = chain ?? (from > part.first ? Chain.from(from) : new Chain(part.first, part.hash));
  const { resume } = range;
  yield* scanLog(part.layout, start, { from, to, ...(resume ? { resume } : {}) });
}
