/**
 * Any event of a joined log by its number, read at once from where it stands.
 *
 * Promise: of a log it reads the block that holds the event (a frame of a sealed segment, the bytes between two places of
 * an open one) and remembers a bounded number of bytes; a line is given out only when it follows the one before it in the
 * hash chain. It never waits: views are read synchronously.
 */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { Chain } from '../chain.ts';
import { carries, computedHash, storedHash, TAIL } from '../line.ts';
import { lineHead, type ReadHead } from '../line-head.ts';
import type { Problem } from '../problem.ts';
import { readRange } from './disk.ts';
import type { Segment } from './layout.ts';
import { type Frame, readOffsets } from './offset-table.ts';
import { readPlaces } from './places.ts';
import type { SessionPart } from './session-files.ts';

/** Bytes of blocks that are remembered; one that is longer is remembered alone. */
const REMEMBERED = 16 * 1024 * 1024;

/** A line and where the next one begins. */
export interface PlacedLine {
  readonly bytes: Buffer;
  readonly head: ReadHead;
  readonly hash: string;
  readonly segment: Segment;
  /** In the uncompressed segment. */
  readonly end: number;
}

/** Where a block of whole lines stands. Of a plain segment's last one the end is open. */
interface Place {
  readonly segment: Segment;
  readonly seq: number;
  /** In the file. */
  readonly offset: number;
  readonly length: number;
  /** In the uncompressed segment. */
  readonly rawOffset: number;
}

interface Block extends Place {
  readonly bytes: Buffer;
  /** Where lines begin, and where the one after the last would. */
  readonly starts: readonly number[];
  /** Which lines are whole; known when one was looked at that did not follow the one before it. */
  whole?: readonly boolean[];
}

export class EventFiles {
  readonly #parts: readonly SessionPart[];
  readonly #tell: (problem: Problem) => void;
  readonly #segments = new Map<string, readonly Segment[]>();
  readonly #places = new Map<string, readonly Place[]>();
  readonly #blocks: Blocks;
  /** The line that was given out last: mostly the next one is wanted then, and it stands behind it. */
  #latest: { readonly part: SessionPart; readonly block: Block; readonly line: PlacedLine } | undefined;

  /** @param tell of damage that was met, once for each line */
  constructor(
    parts: readonly SessionPart[],
    blocks: Blocks,
    tell: (problem: Problem) => void = () => undefined,
  ) {
    this.#parts = parts;
    this.#blocks = blocks;
    this.#tell = once(tell);
  }

  /** The line of an event; undefined when there is none (yet), or it is damaged. */
  line(seq: number): PlacedLine | undefined {
    const next = this.#next(seq);
    if (next !== undefined) return next;
    const part = this.#parts.find(({ first, last }) => first <= seq && seq <= last);
    if (part === undefined) return undefined;
    const found = this.#lookUp(part, seq);
    if (found !== undefined) return found;
    // The log may have grown, or been sealed, since it was looked at.
    if (!this.#forgetOpen(part)) return undefined;
    return this.#lookUp(part, seq);
  }

  /** The number of the last event that is there. */
  last(): number {
    const part = this.#parts.at(-1);
    if (part === undefined) return -1;
    this.#forgetOpen(part);
    const segments = this.#segmentsOf(part);
    for (const segment of segments.toReversed()) {
      try {
        for (const place of this.#placesOf(segment).toReversed()) {
          const block = this.#blocks.get(place);
          for (let index = block.starts.length - 2; index >= 0; index--) {
            const head = lineHead(lineAt(block, index));
            if (head !== undefined) return Math.min(head.seq, part.last);
          }
        }
      } catch {
        // Looked for further in front.
      }
    }
    return part.first - 1;
  }

  /** The line behind the one that was given out last, if it is the one and follows it. */
  #next(seq: number): PlacedLine | undefined {
    if (this.#latest === undefined) return undefined;
    const { part, block, line } = this.#latest;
    const index = seq - block.seq;
    if (line.head.seq !== seq - 1 || seq > part.last || index >= block.starts.length - 1) return undefined;
    const bytes = lineAt(block, index);
    const head = lineHead(bytes);
    if (head?.seq !== seq || bytes.length <= TAIL) return undefined;
    const hash = computedHash(line.hash, bytes);
    if (!carries(bytes, hash)) return undefined;
    return this.#give(part, block, index, { bytes, head, hash });
  }

  #give(
    part: SessionPart,
    block: Block,
    index: number,
    line: Pick<PlacedLine, 'bytes' | 'head' | 'hash'>,
  ): PlacedLine {
    const end = block.rawOffset + (block.starts[index + 1] as number);
    const placed = { ...line, segment: block.segment, end };
    this.#latest = { part, block, line: placed };
    return placed;
  }

  #lookUp(part: SessionPart, seq: number): PlacedLine | undefined {
    const segment = lastUpTo(this.#segmentsOf(part), seq, ({ first }) => first);
    if (segment === undefined) return undefined;
    let place: Place | undefined;
    try {
      place = lastUpTo(this.#placesOf(segment), seq, (one) => one.seq);
      return place && this.#lineIn(part, this.#blocks.get(place), seq);
    } catch (error) {
      // One that is gone was sealed or removed meanwhile: it is looked for once more.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#tell({
          kind: segment.sealed ? 'frame' : 'segment',
          message: `this part of the log cannot be read: ${(error as Error).message}`,
          file: basename(segment.path),
          ...(place && { offset: place.offset, length: place.length }),
          seq,
        });
      return undefined;
    }
  }

  #lineIn(part: SessionPart, block: Block, seq: number): PlacedLine | undefined {
    const found = findIn(block, seq);
    if (found === undefined) return undefined;
    const { index, head } = found;
    const bytes = lineAt(block, index);
    const hash = storedHash(bytes);
    const before = index > 0 ? storedHash(lineAt(block, index - 1)) : this.#hashBefore(block);
    const follows = hash !== undefined && (before === undefined || computedHash(before, bytes) === hash);
    if (hash !== undefined && (follows || isWhole(block, index)))
      return this.#give(part, block, index, { bytes, head, hash });
    this.#tell({
      kind: 'hash',
      message: 'its bytes do not match its hash',
      file: basename(block.segment.path),
      offset: block.rawOffset + (block.starts[index] as number),
      length: bytes.length,
      seq,
    });
    return undefined;
  }

  /** The hash of the line in front of a block of a plain segment. Frames have checksums of their own. */
  #hashBefore({ segment, offset }: Block): string | undefined {
    if (segment.sealed || offset < TAIL + 1) return undefined;
    return storedHash(
      Buffer.from(`{}${readRange(segment.path, offset - TAIL - 1, TAIL).toString('latin1')}`),
    );
  }

  #segmentsOf({ id, layout }: SessionPart): readonly Segment[] {
    let segments = this.#segments.get(id);
    if (segments === undefined) {
      segments = layout.segments();
      this.#segments.set(id, segments);
    }
    return segments;
  }

  #placesOf(segment: Segment): readonly Place[] {
    let places = this.#places.get(segment.path);
    if (places === undefined) {
      places = segment.sealed ? framesOf(segment) : plainPlaces(segment);
      this.#places.set(segment.path, places);
    }
    return places;
  }

  /** Forgets what may have changed; false when nothing can have. */
  #forgetOpen(part: SessionPart): boolean {
    const segments = this.#segments.get(part.id);
    if (segments === undefined) return false;
    this.#segments.delete(part.id);
    for (const segment of segments) if (!segment.sealed) this.#places.delete(segment.path);
    return true;
  }
}

/** Blocks that were read lately. */
export class Blocks {
  readonly #blocks = new Map<string, Block>();
  #bytes = 0;

  get(place: Place): Block {
    // The last block of an open segment grows: then it is another one.
    const key = `${place.segment.path} ${place.offset} ${place.length}`;
    let block = this.#blocks.get(key);
    if (block !== undefined) {
      this.#blocks.delete(key);
    } else {
      block = readBlock(place);
      this.#bytes += block.bytes.length;
    }
    this.#blocks.set(key, block);
    for (const [oldest, { bytes }] of this.#blocks) {
      if (this.#bytes <= REMEMBERED || oldest === key) break;
      this.#blocks.delete(oldest);
      this.#bytes -= bytes.length;
    }
    return block;
  }
}

function readBlock(place: Place): Block {
  const { segment, offset, length } = place;
  const stored = readRange(segment.path, offset, length);
  const bytes = segment.sealed ? zstdDecompressSync(stored) : stored;
  const starts = [0];
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, end + 1)) starts.push(end + 1);
  return { ...place, bytes, starts };
}

/** An event among a block's lines: by counting, or by looking where lines are missing or twice. */
function findIn(block: Block, seq: number): { readonly index: number; readonly head: ReadHead } | undefined {
  const lines = block.starts.length - 1;
  const headAt = (index: number): ReadHead | undefined => {
    const head = lineHead(lineAt(block, index));
    return head?.seq === seq ? head : undefined;
  };
  const counted = seq - block.seq;
  const head = counted < lines ? headAt(counted) : undefined;
  if (head !== undefined) return { index: counted, head };
  for (let index = 0; index < lines; index++) {
    const found = headAt(index);
    if (found !== undefined) return { index, head: found };
  }
  return undefined;
}

function lineAt({ bytes, starts }: Block, index: number): Buffer {
  return bytes.subarray(starts[index], (starts[index + 1] as number) - 1);
}

/** Whether a line is what its writer wrote, as far as the lines around it can tell. */
function isWhole(block: Block, index: number): boolean {
  if (block.whole === undefined) {
    const chain = Chain.from(block.seq);
    block.whole = block.starts.slice(1).map((_, line) => chain.check(lineAt(block, line)).whole);
  }
  return block.whole[index] ?? false;
}

function framesOf(segment: Segment): Place[] {
  const { frames } = readOffsets(segment);
  return frames.map(({ seq, offset, length, rawOffset }: Frame) => ({
    segment,
    seq,
    offset,
    length,
    rawOffset,
  }));
}

function plainPlaces(segment: Segment): Place[] {
  const { size } = statSync(segment.path);
  const places = readPlaces(segment, size).filter(
    ({ seq, offset }) =>
      offset === 0 || lineHead(readRange(segment.path, offset, Math.min(512, size - offset)))?.seq === seq,
  );
  return places.map(({ seq, offset }, index) => ({
    segment,
    seq,
    offset,
    length: (places[index + 1]?.offset ?? size) - offset,
    rawOffset: offset,
  }));
}

/** The last item whose key is not above a number, in a list that rises. */
function lastUpTo<T>(items: readonly T[], most: number, key: (item: T) => number): T | undefined {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key(items[middle] as T) <= most) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}

function once(tell: (problem: Problem) => void): (problem: Problem) => void {
  const told = new Set<string>();
  return (problem) => {
    const place = `${problem.file} ${problem.offset ?? problem.kind}`;
    if (told.has(place)) return;
    told.add(place);
    tell(problem);
  };
}
