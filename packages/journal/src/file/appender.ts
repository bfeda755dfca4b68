/**
 * Gets lines to the disk: gathered into few writes, in order, one write at a time.
 *
 * Promise: what `barrier` acknowledged is on disk (fdatasync, with the names of new files and the blobs that the lines
 * refer to). After a failure nothing more is written and no half line is left, as far as the disk allows.
 */
import { rmSync, writeSync } from 'node:fs';
import { ChassisError } from '@chassis/errors';
import type { Page } from '../recorder.ts';
import type { BlobFiles } from './blob-files.ts';
import { type Disk, isCode } from './disk.ts';
import type { SessionLayout } from './layout.ts';
import type { Lock } from './lock.ts';
import { Places } from './places.ts';

/** A segment that has grown to this is closed and the next one begun. */
export const SEGMENT_BYTES = 8 * 1024 * 1024;
const PAGE_BYTES = 256 * 1024;
/** How long lines wait for company when nobody waits for them, in milliseconds. */
const GATHER_MS = 5;

/** Lines in a row that are written at once. */
interface Batch {
  readonly first: number;
  last: number;
  readonly page: Page;
  readonly start: number;
  end: number;
}

export interface AppenderStart {
  readonly disk: Disk;
  readonly layout: SessionLayout;
  readonly blobs: BlobFiles;
  readonly lock: Lock;
  /** The open segment: its file and its length. Undefined: the first line begins a new one. */
  readonly segment: { readonly fd: number; readonly first: number; readonly length: number } | undefined;
  readonly segmentBytes: number;
  /** The last event that is there already. */
  readonly written: number;
  /** Called with a segment that is complete. */
  readonly onComplete: (first: number) => void;
}

export class Appender {
  readonly #start: AppenderStart;
  #segment: { fd: number; first: number; length: number } | undefined;
  #batches: Batch[] = [];
  #page: Page = NO_PAGE;
  #spare: Buffer | undefined;
  /** Taken for writing, but not yet known to be in the file. */
  #taken: Batch[] = [];
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #unsynced = false;
  #written: number;
  readonly #places = new Places();
  #failed: Error | undefined;

  constructor(start: AppenderStart) {
    this.#start = start;
    this.#segment = start.segment && { ...start.segment };
    this.#written = start.written;
    flushAtExit(this);
  }

  get failed(): Error | undefined {
    return this.#failed;
  }

  /** The last event that is in its file. */
  get written(): number {
    return this.#written;
  }

  /** Takes a line, and answers the page on which it is the last one. */
  write(line: Buffer, seq: number): Page {
    const page = this.#pageFor(line.length);
    let batch = this.#batches.at(-1);
    if (batch?.page !== page) {
      batch = { first: seq, last: seq, page, start: page.used, end: page.used };
      this.#batches.push(batch);
    }
    page.used += line.copy(page.bytes, page.used);
    batch.end = page.used;
    batch.last = seq;
    if (!this.#running && !this.#timer) this.#timer = setTimeout(() => this.#kick(), GATHER_MS);
    return page;
  }

  barrier(): Promise<void> {
    if (this.#failed) return Promise.reject(this.#failed);
    if (!this.#running && this.#batches.length === 0 && !this.#unsynced && !this.#start.blobs.hasPending) {
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#kick();
    });
  }

  async close(): Promise<void> {
    try {
      // A failure was told already, to everybody who waited.
      if (!this.#failed) await this.barrier();
    } finally {
      forget(this);
      clearTimeout(this.#timer);
      await this.#running;
      if (this.#segment) await this.#start.disk.close(this.#segment.fd);
      this.#segment = undefined;
    }
  }

  /** For a process that is about to exit: what is queued is written now, over what may be half written. */
  flushNow(): void {
    if (this.#failed || !this.#segment) return;
    try {
      this.#start.lock.check();
      this.#start.blobs.flushNow();
      let position = this.#segment.length;
      for (const batch of [...this.#taken, ...this.#batches]) {
        const bytes = bytesOf(batch);
        for (let done = 0; done < bytes.length; ) {
          done += writeSync(this.#segment.fd, bytes, done, bytes.length - done, position + done);
        }
        position += bytes.length;
      }
      this.#batches = [];
      this.#taken = [];
      this.#segment.length = position;
    } catch {
      // Too late to tell anybody; nothing of this was acknowledged.
    }
  }

  /** A page with room for a line. */
  #pageFor(length: number): Page {
    const { bytes, used } = this.#page;
    if (used + length <= bytes.length) return this.#page;
    const fits = this.#spare !== undefined && length <= this.#spare.length;
    const next = fits ? (this.#spare as Buffer) : Buffer.allocUnsafe(Math.max(PAGE_BYTES, length));
    if (fits) this.#spare = undefined;
    this.#page = { bytes: next, used: 0, kept: false };
    return this.#page;
  }

  /** A page whose lines are all in the file can take others, unless somebody reads in it. */
  #reuse(page: Page): void {
    if (page.kept || this.#taken.length > 0 || this.#batches.length > 0) return;
    if (page === this.#page) page.used = 0;
    else if (page.bytes.length === PAGE_BYTES) this.#spare = page.bytes;
  }

  #kick(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#running) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // Lines that came meanwhile and that nobody waits for gather again.
      if (this.#failed) return;
      if (this.#waiting.length > 0) this.#kick();
      else if (this.#batches.length > 0) this.#timer ??= setTimeout(() => this.#kick(), GATHER_MS);
    });
  }

  async #run(): Promise<void> {
    try {
      do {
        const waiting = this.#waiting;
        this.#waiting = [];
        this.#taken = this.#batches;
        this.#batches = [];
        try {
          await this.#write();
          if (waiting.length > 0 && this.#unsynced && this.#segment) {
            await this.#start.disk.datasync(this.#segment.fd);
            this.#unsynced = false;
          }
        } catch (error) {
          for (const waiter of waiting) waiter.reject(await this.#fail(error));
          throw error;
        }
        for (const waiter of waiting) waiter.resolve();
      } while (this.#waiting.length > 0);
    } catch (error) {
      const failed = await this.#fail(error);
      for (const waiter of this.#waiting) waiter.reject(failed);
      this.#waiting = [];
    }
  }

  async #write(): Promise<void> {
    const { blobs, lock, disk, layout } = this.#start;
    if (blobs.hasPending) await blobs.flush();
    if (this.#taken.length === 0) return;
    lock.check();
    for (let batch = this.#taken[0]; batch; batch = this.#taken[0]) {
      const segment = await this.#room(batch.first);
      const bytes = bytesOf(batch);
      let done = 0;
      while (done < bytes.length) {
        const written = await disk.write(segment.fd, bytes.subarray(done), segment.length + done);
        if (written <= 0) throw Object.assign(new Error('the disk took no bytes'), { code: 'EIO' });
        done += written;
        this.#unsynced = true;
      }
      this.#taken.shift();
      this.#places.written(layout.segment(segment.first), batch.first, segment.length);
      segment.length += bytes.length;
      this.#written = batch.last;
      this.#reuse(batch.page);
    }
  }

  /** The segment that a line with this number goes to. */
  async #room(seq: number): Promise<{ fd: number; first: number; length: number }> {
    const { disk, layout, lock, segmentBytes, onComplete } = this.#start;
    const full = this.#segment && this.#segment.length >= segmentBytes ? this.#segment : undefined;
    if (this.#segment && !full) return this.#segment;
    if (full) {
      await disk.datasync(full.fd);
      this.#unsynced = false;
    }
    const path = layout.segment(seq);
    const fd = await disk.open(path, 'wx+');
    try {
      // A segment of a writer that has lost its lock would stand in the new one's way.
      lock.check();
    } catch (error) {
      await disk.close(fd);
      rmSync(path, { force: true });
      throw error;
    }
    this.#segment = { fd, first: seq, length: 0 };
    await disk.syncFolder(layout.log);
    if (full) {
      await disk.close(full.fd);
      onComplete(full.first);
    }
    return this.#segment;
  }

  async #fail(cause: unknown): Promise<Error> {
    if (this.#failed) return this.#failed;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const full = isCode(cause, 'ENOSPC', 'EDQUOT') ? 'the disk is full' : reason;
    this.#failed =
      cause instanceof ChassisError
        ? cause
        : new ChassisError('Unavailable', `the session can no longer be recorded: ${full}`, {
            cause,
            data: {
              cause: reason,
              path: this.#start.layout.log,
              fix: 'make room or repair the disk, then resume the session',
            },
          });
    // Only whole lines may stay: everything up to here was written completely.
    if (this.#segment && !(cause instanceof ChassisError)) {
      try {
        await this.#start.disk.truncate(this.#segment.fd, this.#segment.length);
      } catch {
        // The next opening sets the torn tail aside.
      }
    }
    return this.#failed;
  }
}

const NO_PAGE: Page = { bytes: Buffer.alloc(0), used: 0, kept: false };

function bytesOf({ page, start, end }: Batch): Buffer {
  return page.bytes.subarray(start, end);
}

const open = new Set<Appender>();
let listening = false;

function flushAtExit(appender: Appender): void {
  open.add(appender);
  if (listening) return;
  listening = true;
  process.on('exit', () => {
    for (const one of open) one.flushNow();
  });
}

function forget(appender: Appender): void {
  open.delete(appender);
}
