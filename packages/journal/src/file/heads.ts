/**
 * The heads of a session's events, read from their lines without parsing what they carry and without checking it.
 *
 * Promise: a bounded piece of the log in memory; rising numbers, each once. What has no head, or cannot be read, is left
 * out: `verify` tells of it.
 */
import type { EventHead } from '../event.ts';
import { eventHead } from '../line-head.ts';
import type { Segment } from './layout.ts';
import { present } from './log-scan.ts';
import { type RawLine, readLines } from './segment-reader.ts';
import type { SessionPart } from './session-files.ts';

export async function* headsOf(
  parts: readonly SessionPart[],
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number },
): AsyncGenerator<readonly EventHead[]> {
  let next = from;
  for (const part of parts) {
    next = Math.max(next, part.first);
    const segments = part.layout.segments();
    for (const [index, segment] of segments.entries()) {
      // What stands behind the beginning of the next one was written by somebody who had lost the session.
      const end = (segments[index + 1]?.first ?? Number.POSITIVE_INFINITY) - 1;
      const last = Math.min(to, part.last, end);
      if (next > last) continue;
      for await (const lines of readable(segment, next)) {
        const heads = headsIn(lines, next, last);
        if (heads.length > 0) yield heads;
        next = (heads.at(-1)?.seq ?? next - 1) + 1;
        if (next > last) break;
      }
    }
  }
}

function headsIn(lines: readonly RawLine[], first: number, last: number): EventHead[] {
  const heads: EventHead[] = [];
  let next = first;
  for (const { bytes, ended } of lines) {
    const head = ended ? eventHead(bytes) : undefined;
    if (head === undefined || head.seq < next || head.seq > last) continue;
    heads.push(head);
    next = head.seq + 1;
  }
  return heads;
}

async function* readable(segment: Segment, from: number): AsyncGenerator<RawLine[]> {
  try {
    yield* readLines(present(segment), { from });
  } catch {
    // The segments behind it may be whole.
  }
}
