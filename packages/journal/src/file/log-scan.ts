/**
 * A session's own log, line by line, checked against the hash chain.
 *
 * Promise: every line is reported, whole or damaged, with its file and offset; lines that a writer wrote after it had lost
 * its lock are told apart; a file that cannot be read costs only itself.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Chain, Checked } from '../chain.ts';
import type { Problem } from '../problem.ts';
import type { Segment, SessionLayout } from './layout.ts';
import { type RawLine, readLines } from './segment-reader.ts';

export interface ScannedLine extends RawLine {
  readonly segment: Segment;
  readonly checked: Checked;
  readonly problem?: Problem;
}

export interface ScanRange {
  /** Events before this are left out; the scan starts at the nearest place at or before it. */
  readonly from?: number;
  /** The scan ends with this one. */
  readonly to?: number;
  /** Goes on in the middle of a segment: at this byte of the (uncompressed) segment that starts with event `first`. */
  readonly resume?: { readonly first: number; readonly offset: number };
}

/** Batches of lines. Problems with whole files come as a line without bytes. */
export async function* scanLog(
  layout: SessionLayout,
  chain: Chain,
  range: ScanRange = {},
): AsyncGenerator<ScannedLine[]> {
  const { from = 0, to = Number.POSITIVE_INFINITY, resume } = range;
  const segments = layout.segments();
  const start = resume?.first ?? from;
  let index = 0;
  while (index + 1 < segments.length && (segments[index + 1] as Segment).first <= start) index++;
  for (; index < segments.length && chain.expected <= to; index++) {
    const segment = segments[index] as Segment;
    const limit = segments[index + 1]?.first ?? Number.POSITIVE_INFINITY;
    const offset = resume?.first === segment.first ? resume.offset : 0;
    try {
      for await (const lines of readLines(present(segment), { from, offset })) {
        const scanned: ScannedLine[] = [];
        for (const line of lines) {
          if (chain.expected > to) break;
          // A sealed segment is read from the beginning of a frame; a damaged frame is placed in the sealed file.
          if (line.offset < offset && !line.fault) continue;
          const one = scanLine(line, segment, chain, limit);
          if ((one.checked.head?.seq ?? from) >= from) scanned.push(one);
        }
        if (scanned.length > 0) yield scanned;
        if (chain.expected > to) return;
      }
    } catch (error) {
      const message = `this part of the log cannot be read: ${(error as Error).message}`;
      const problem = { kind: 'segment', message, file: basename(segment.path) };
      yield [
        {
          bytes: Buffer.alloc(0),
          offset: 0,
          ended: true,
          segment,
          checked: { whole: false, problem },
          problem,
        },
      ];
    }
  }
}

/** The segment as it is named now: it may have been sealed since the folder was listed. */
export function present(segment: Segment): Segment {
  if (segment.sealed || existsSync(segment.path)) return segment;
  return { ...segment, path: `${segment.path}.zst`, sealed: true };
}

function scanLine(line: RawLine, segment: Segment, chain: Chain, limit: number): ScannedLine {
  const { bytes, offset, ended, fault } = line;
  if (ended && fault === undefined && chain.expected < limit) {
    const checked = chain.check(bytes);
    if (checked.problem === undefined) return { bytes, offset, ended, segment, checked };
    const { kind } = checked.problem;
    const digest = kind === 'lost' || kind === 'gap' ? { digest: hash('sha256', bytes) } : {};
    const problem = { ...checked.problem, ...placeOf(line, segment), ...digest };
    return { bytes, offset, ended, segment, checked, problem };
  }
  const place = placeOf(line, segment);
  if (line.fault) {
    const message = `a compressed part of the log is damaged: ${line.fault.message}`;
    const problem = { kind: 'frame', message };
    return {
      ...line,
      segment,
      checked: { whole: false, problem },
      problem: { ...problem, ...place, length: line.fault.length },
    };
  }
  if (!line.ended) {
    const checked: Checked = { whole: false, problem: { kind: 'torn', message: 'the last line is cut off' } };
    return {
      ...line,
      segment,
      checked,
      problem: { kind: 'torn', message: 'the last line is cut off', ...place },
    };
  }
  const message = 'written after another process had taken the session over';
  const checked: Checked = { whole: false, problem: { kind: 'stale', message } };
  return { ...line, segment, checked, problem: { kind: 'stale', message, ...place } };
}

function placeOf(line: RawLine, segment: Segment): { file: string; offset: number; length: number } {
  return { file: basename(segment.path), offset: line.offset, length: line.bytes.length };
}
