/**
 * The snapshots of one session: a file beside its log, to which each new one appends only what the earlier ones do not have.
 *
 * Promise: it is derived. A snapshot counts only when the log says so: the event behind it carries the SHA-256 of its
 * bytes. What is damaged, cut off, missing or of another log is not used, nor what came after it; an earlier snapshot or
 * the log itself answers then.
 */
import { hash as sha256 } from 'node:crypto';
import { closeSync, openSync, renameSync, truncateSync, writeSync } from 'node:fs';
import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Problem } from '../problem.ts';
import type { NodeRef } from '../state/rows.ts';
import type { Trail, TrailState } from '../state/trail.ts';
import type { Tallied } from '../tally.ts';
import { FILE_MODE, isCode, readRange, statIfThere } from './disk.ts';
import type { SessionLayout } from './layout.ts';

/** A record: mark, length of the packed body, CRC-32 of all behind it, the snapshot's last event; then the body. Little-endian. */
const MARK = 0x504e5343;
const HEAD = 20;
/** Bytes of the file that are looked through at once. */
const WINDOW = 256 * 1024;

/** The root of a snapshot. */
export interface SavedState {
  readonly v: 1;
  readonly session: string;
  /** Hash of the snapshot's last event. */
  readonly hash: string;
  readonly trail: TrailState;
  /** What a listing says of the session up to here. */
  readonly tally: Tallied;
  /** Files of other sessions that it refers to: it holds while they are as they were. */
  readonly foreign: readonly Anchor[];
}

/** A file of snapshots up to one of them. */
export interface Anchor {
  readonly session: string;
  readonly at: number;
  readonly chain: number;
}

/** Where a snapshot stands. */
export interface Snapshot {
  readonly seq: number;
  /** In its file; what refers to it says this. */
  readonly at: number;
  readonly length: number;
  /** CRC-32 over those of all records up to it. */
  readonly chain: number;
}

export class SnapshotFile {
  readonly #path: string;
  #size = -1;
  #changed = -1;
  #snapshots: readonly Snapshot[] = [];
  #damage: Problem | undefined;
  readonly #bodies = new Map<number, Buffer>();

  constructor(layout: SessionLayout) {
    this.#path = layout.snapshots;
  }

  /** All that can be used, in order. */
  all(): readonly Snapshot[] {
    this.#look();
    return this.#snapshots;
  }

  /** Whether there are any, sound or not. */
  exists(): boolean {
    this.#look();
    return this.#size > 0;
  }

  /** Why there are not more. */
  get damage(): Problem | undefined {
    return this.#damage;
  }

  /** The content hash of a snapshot. */
  hashOf({ at, length }: Snapshot): string {
    return sha256('sha256', this.#bytes(at + HEAD, length));
  }

  root(snapshot: Snapshot): SavedState {
    const body = this.#body(snapshot.at);
    const length = body.readUInt32LE(body.length - 4);
    return JSON.parse(body.toString('utf8', body.length - 4 - length, body.length - 4)) as SavedState;
  }

  node({ record, from, length }: NodeRef): Buffer {
    const body = this.#body(record);
    if (from + length > body.length) throw new Error('a snapshot refers to a page that is not there');
    return body.subarray(from, from + length);
  }

  #body(at: number): Buffer {
    const known = this.#bodies.get(at);
    if (known !== undefined) return known;
    const head = this.#bytes(at, HEAD);
    if (head.length < HEAD || head.readUInt32LE(0) !== MARK) throw new Error('a snapshot is damaged');
    const body = zstdDecompressSync(this.#bytes(at + HEAD, head.readUInt32LE(4)));
    this.#bodies.set(at, body);
    if (this.#bodies.size > 128) this.#bodies.delete(this.#bodies.keys().next().value as number);
    return body;
  }

  /** Reads and checks the whole file once for each state of it: it is a small part of the log's size. */
  #look(): void {
    const stat = statIfThere(this.#path);
    const [size, changed] = [stat?.isFile() ? stat.size : 0, stat?.mtimeMs ?? 0];
    if (size === this.#size && changed === this.#changed) return;
    this.#size = size;
    this.#changed = changed;
    this.#bodies.clear();
    const snapshots: Snapshot[] = [];
    let chain = 0;
    this.#damage = undefined;
    // There are thousands of small ones: they are not read one by one.
    let window: Buffer = Buffer.alloc(0);
    let start = 0;
    const bytes = (from: number, length: number): Buffer => {
      if (from + length > start + window.length) {
        window = this.#bytes(from, Math.min(size - from, Math.max(length, WINDOW)));
        start = from;
      }
      return window.subarray(from - start, from - start + length);
    };
    for (let at = 0; at < size; ) {
      const head = bytes(at, HEAD);
      const length = head.length < HEAD ? 0 : head.readUInt32LE(4);
      const packed = at + HEAD + length > size ? undefined : bytes(at + HEAD, length);
      const sound =
        packed !== undefined &&
        head.length === HEAD &&
        head.readUInt32LE(0) === MARK &&
        checkOf(head, packed) === head.readUInt32LE(8);
      if (!sound) {
        this.#damage = {
          kind: 'snapshot',
          message: 'a snapshot is damaged: what is behind it is folded from the log',
          file: 'snapshots',
          offset: at,
          length: size - at,
        };
        break;
      }
      chain = crc32(head.subarray(8, 12), chain);
      snapshots.push({ seq: head.readDoubleLE(12), at, length, chain });
      at += HEAD + length;
    }
    this.#snapshots = snapshots;
  }

  #bytes(offset: number, length: number): Buffer {
    return readAt(this.#path, offset, length);
  }
}

/** Takes snapshots for the writer of a session. */
export class SnapshotWriter {
  readonly #session: string;
  readonly #path: string;
  readonly #trail: Trail;
  readonly #tally: () => Tallied;
  readonly #mayWrite: () => void;
  readonly #every: number;
  readonly #foreign: readonly Anchor[];
  #fd: number | undefined;
  #end: number;
  #last: number;
  #bytes = 0;

  /**
   * @param mayWrite throws when the session is no longer this writer's
   * @param last the event up to which there is a snapshot already
   * @param every events between two snapshots, at most; 256 KiB of lines is the other limit
   */
  constructor(options: {
    readonly session: string;
    readonly layout: SessionLayout;
    readonly trail: Trail;
    readonly tally: () => Tallied;
    readonly mayWrite: () => void;
    readonly last: number;
    readonly every: number;
    readonly foreign: readonly Anchor[];
  }) {
    this.#session = options.session;
    this.#path = options.layout.snapshots;
    this.#trail = options.trail;
    this.#tally = options.tally;
    this.#mayWrite = options.mayWrite;
    this.#every = options.every;
    this.#last = options.last;
    this.#foreign = options.foreign;
    const known = new SnapshotFile(options.layout).all().at(-1);
    this.#end = known === undefined ? 0 : known.at + HEAD + known.length;
  }

  /** Whether the time has come, after one more line. */
  due(lineBytes: number): boolean {
    this.#bytes += lineBytes;
    const events = this.#trail.seq - this.#last;
    return !this.#trail.broken && (events >= this.#every || (this.#bytes >= BYTES && events >= FEWEST));
  }

  /** @returns the content hash; undefined when it could not be written: the log goes on without it, until the next one */
  take(hash: string): string | undefined {
    this.#last = this.#trail.seq;
    this.#bytes = 0;
    let done = false;
    try {
      this.#mayWrite();
      const packed = this.#pack(hash);
      const head = Buffer.alloc(HEAD);
      head.writeUInt32LE(MARK, 0);
      head.writeUInt32LE(packed.length, 4);
      head.writeDoubleLE(this.#trail.seq, 12);
      head.writeUInt32LE(checkOf(head, packed), 8);
      this.#append(Buffer.concat([head, packed]));
      done = true;
      return sha256('sha256', packed);
    } catch {
      // The next one begins where this one did, and cuts off what there may be of it.
      this.close();
      return undefined;
    } finally {
      this.#trail.saved(done);
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #pack(hash: string): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    const trail = this.#trail.save((bytes) => {
      const ref = { session: this.#session, record: this.#end, from, length: bytes.length };
      parts.push(bytes);
      from += bytes.length;
      return ref;
    });
    const own = { session: this.#session, hash, tally: this.#tally(), foreign: this.#foreign };
    const state: SavedState = { v: 1, ...own, trail };
    const root = Buffer.from(JSON.stringify(state));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(root.length);
    return zstdCompressSync(Buffer.concat([...parts, root, length]));
  }

  #append(record: Buffer): void {
    if (this.#fd === undefined) {
      // Snapshots are derived: what stands in their place and is no file makes room.
      if (statIfThere(this.#path)?.isFile() === false)
        renameSync(this.#path, `${this.#path}.aside-${Date.now()}`);
      // What an interrupted writer left behind the last whole one goes.
      if ((statIfThere(this.#path)?.size ?? 0) > this.#end) truncateSync(this.#path, this.#end);
      this.#fd = openSync(this.#path, this.#end === 0 ? 'w' : 'r+', FILE_MODE);
    }
    let done = 0;
    while (done < record.length)
      done += writeSync(this.#fd, record, done, record.length - done, this.#end + done);
    this.#end += record.length;
  }
}

/**
 * A snapshot takes less than a kilobyte, and what is behind the nearest one has to be read: so they are spaced by the bytes
 * of the log, but never closer than a few events.
 */
const BYTES = 256 * 1024;
const FEWEST = 16;
/** Events between two snapshots, at most. */
export const SNAPSHOT_EVENTS = 1024;

/** CRC-32 of a record's last event and its body. */
function checkOf(head: Buffer, packed: Buffer): number {
  return crc32(packed, crc32(head.subarray(12, HEAD)));
}

function readAt(path: string, offset: number, length: number): Buffer {
  try {
    return readRange(path, offset, length);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
}
