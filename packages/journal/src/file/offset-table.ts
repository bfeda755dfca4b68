/**
 * The offset table of a sealed segment: where each compressed frame begins and which event comes first in it.
 *
 * It is derived: when it is missing or does not fit, it is rebuilt from the frames themselves.
 */
import { statSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { lineHead } from '../line-head.ts';
import { readFile, readIfThere } from './disk.ts';
import { offsetTable, type Segment } from './layout.ts';

export interface Frame {
  /** Sequence number of its first event. */
  readonly seq: number;
  /** Place and length in the sealed file. */
  readonly offset: number;
  readonly length: number;
  /** Place and length in the uncompressed segment. */
  readonly rawOffset: number;
  readonly rawLength: number;
}

export interface OffsetTable {
  readonly v: 1;
  /** Length of the sealed file, so that a table of another file is not taken for its own. */
  readonly bytes: number;
  readonly frames: readonly Frame[];
}

export function readOffsets(segment: Segment): OffsetTable {
  const size = statSync(segment.path).size;
  try {
    const table = JSON.parse(readIfThere(offsetTable(segment.path))?.toString('utf8') ?? '') as OffsetTable;
    const last = table.frames.at(-1);
    if (table.v === 1 && table.bytes === size && last && last.offset + last.length === size) return table;
  } catch {
    // Rebuilt below.
  }
  return rebuild(readFile(segment.path));
}

/** The frame in which an event must be, if it is in this segment. */
export function frameHolding(frames: readonly Frame[], seq: number): number {
  const next = frames.findIndex((frame) => frame.seq >= seq);
  if (next === -1) return Math.max(0, frames.length - 1);
  return frames[next]?.seq === seq ? next : Math.max(0, next - 1);
}

function rebuild(packed: Buffer): OffsetTable {
  const size = packed.length;
  const frames: (Omit<Frame, 'seq'> & { seq: number | undefined })[] = [];
  let rawOffset = 0;
  for (let offset = 0; offset < size; ) {
    const length = frameLength(packed, offset);
    const raw = unpacked(packed.subarray(offset, offset + length));
    const end = raw.indexOf(10);
    const seq = lineHead(raw.subarray(0, end === -1 ? raw.length : end))?.seq;
    frames.push({ seq, offset, length, rawOffset, rawLength: raw.length });
    rawOffset += raw.length;
    offset += length;
  }
  // What a damaged frame begins with is not known: not more than what the next one begins with.
  let next = Number.POSITIVE_INFINITY;
  const known: Frame[] = [];
  for (const frame of frames.reverse()) {
    next = frame.seq ?? next;
    known.unshift({ ...frame, seq: next });
  }
  return { v: 1, bytes: size, frames: known };
}

/** A frame's content, or nothing when it is damaged: where the next one begins is known all the same. */
function unpacked(frame: Buffer): Buffer {
  try {
    return zstdDecompressSync(frame);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Length of the zstd frame at `start` (RFC 8878, section 3.1.1): header, blocks, checksum. */
function frameLength(bytes: Buffer, start: number): number {
  if (bytes.length < start + 6 || bytes.readUInt32LE(start) !== 0xfd2fb528) {
    throw new Error(`there is no compressed frame at byte ${start}`);
  }
  const descriptor = bytes[start + 4] as number;
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  let at = start + 5 + (singleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (;;) {
    if (at + 3 > bytes.length) throw new Error(`the compressed frame at byte ${start} is cut off`);
    const header = bytes.readUIntLE(at, 3);
    const repeated = ((header >> 1) & 3) === 1;
    at += 3 + (repeated ? 1 : header >> 3);
    if (header & 1) break;
  }
  at += descriptor & 4 ? 4 : 0;
  if (at > bytes.length) throw new Error(`the compressed frame at byte ${start} is cut off`);
  return at - start;
}
