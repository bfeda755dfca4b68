/**
 * Raw lines of a segment, plain or sealed, in batches.
 *
 * Promise: never more in memory than a piece of the file (1 MiB, or one line if that is longer); only byte 0x0A ends a
 * line; what stands after the last one is reported as a rest, not as a line.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { zstdDecompressSync } from 'node:zlib';
import { mustBeFile } from './disk.ts';
import type { Segment } from './layout.ts';
import { type Frame, frameHolding, readOffsets } from './offset-table.ts';

export interface RawLine {
  /** Without the newline. What stands there does not change. */
  readonly bytes: Buffer;
  /** Where it starts in the (uncompressed) segment. */
  readonly offset: number;
  /** False for a rest after the last newline. */
  readonly ended: boolean;
  /** Instead of a line: why a compressed frame could not be read. `offset` is then its place in the sealed file. */
  readonly fault?: { readonly message: string; readonly length: number };
}

const PIECE = 1024 * 1024;
/** Of a sealed segment so much is read at once, and the frame that begins in it: a megabyte or two of lines. */
const PACKED_PIECE = 96 * 1024;
const LEAST_CHUNK = 64;
const MOST_CHUNK = 64 * 1024 * 1024;

export interface LineRange {
  /** Skip what certainly comes before this sequence number (sealed segments only; others are read from their start). */
  readonly from?: number;
  /** Start at this byte, which must be the beginning of a line (plain segments only). */
  readonly offset?: number;
}

/**
 * Of a sealed segment a damaged frame is reported in place of its lines; the frames after it are read.
 * @throws the system's error when the file cannot be read
 */
export async function* readLines(segment: Segment, range: LineRange = {}): AsyncGenerator<RawLine[]> {
  mustBeFile(segment.path);
  const file = await open(segment.path, 'r');
  try {
    const splitter = new Splitter(segment.sealed ? 0 : (range.offset ?? 0));
    if (segment.sealed) {
      const { frames } = readOffsets(segment);
      const start = range.from === undefined ? 0 : frameHolding(frames, range.from);
      splitter.offset = frames[start]?.rawOffset ?? 0;
      for await (const { frame, packed } of packedFrames(file, frames.slice(start))) {
        const lines = unpack(packed, frame.rawLength);
        if (lines instanceof Error) {
          yield splitter.skip(frame, lines.message);
        } else {
          yield splitter.push(lines);
        }
      }
    } else {
      for (let position = splitter.offset; ; ) {
        const piece = Buffer.allocUnsafe(PIECE);
        const { bytesRead } = await file.read(piece, 0, PIECE, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        const lines = splitter.push(piece.subarray(0, bytesRead));
        if (lines.length > 0) yield lines;
      }
    }
    const rest = splitter.rest();
    if (rest) yield [rest];
  } finally {
    await file.close();
  }
}

/** @param length what it will probably be unpacked: one piece of that size needs no putting together */
function unpack(packed: Buffer, length: number): Buffer | Error {
  try {
    const chunkSize = Math.min(Math.max(length + 1, LEAST_CHUNK), MOST_CHUNK);
    return zstdDecompressSync(packed, { chunkSize });
  } catch (error) {
    return error as Error;
  }
}

/** Frames as they stand in the file, a few with each read: a read costs more than a frame takes to be unpacked. */
async function* packedFrames(
  file: FileHandle,
  frames: readonly Frame[],
): AsyncGenerator<{ readonly frame: Frame; readonly packed: Buffer }> {
  for (let from = 0, to = 0; from < frames.length; from = to) {
    const start = (frames[from] as Frame).offset;
    let end = start;
    for (; frames[to]?.offset === end && (end === start || end - start < PACKED_PIECE); to++)
      end += (frames[to] as Frame).length;
    const bytes = await readUpTo(file, start, end - start);
    for (const frame of frames.slice(from, to)) {
      const at = frame.offset - start;
      if (at + frame.length > bytes.length)
        throw new Error(`the file ends at byte ${start + bytes.length}, in the middle of a frame`);
      yield { frame, packed: bytes.subarray(at, at + frame.length) };
    }
  }
}

async function readUpTo(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** Cuts pieces into lines; a line that spans pieces is put together once, when its end has come. */
class Splitter {
  offset: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(offset: number) {
    this.offset = offset;
  }

  push(piece: Buffer): RawLine[] {
    const lines: RawLine[] = [];
    let start = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, start)) {
      const part = piece.subarray(start, end);
      const bytes = this.#parts.length === 0 ? part : Buffer.concat([...this.#parts, part]);
      lines.push({ bytes, offset: this.offset, ended: true });
      this.offset += bytes.length + 1;
      this.#parts = [];
      this.#length = 0;
      start = end + 1;
    }
    if (start < piece.length) {
      this.#parts.push(piece.subarray(start));
      this.#length += piece.length - start;
    }
    return lines;
  }

  /** Leaves out a frame. A line that began before it has lost its end. */
  skip(frame: Frame, message: string): RawLine[] {
    this.#parts = [];
    this.#length = 0;
    this.offset = frame.rawOffset + frame.rawLength;
    return [
      { bytes: Buffer.alloc(0), offset: frame.offset, ended: true, fault: { message, length: frame.length } },
    ];
  }

  rest(): RawLine | undefined {
    if (this.#length === 0) return undefined;
    return { bytes: Buffer.concat(this.#parts), offset: this.offset, ended: false };
  }
}
