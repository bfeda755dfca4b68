/**
 * Blobs as files: each value once for all sessions, by content hash, compressed.
 *
 * Promise: a blob file is whole or not there; `flush` resolves when all blobs taken so far are durable; what comes back
 * has the hash it was asked for.
 */
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Json } from '@chassis/types';
import { blobValue, loseRef, type Resolve } from '../blob-ref.ts';
import type { BlobRef } from '../event.ts';
import { type Disk, FILE_MODE, FOLDER_MODE, isCode, placeFile, readIfThere } from './disk.ts';
import type { Layout } from './layout.ts';

const compress = promisify(zstdCompress);
const PACKING = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
/** Bytes of resolved values that are remembered. */
const REMEMBERED = 32 * 1024 * 1024;

export class BlobFiles {
  readonly #layout: Layout;
  readonly #disk: Disk;
  /** Taken, but not on disk yet. */
  readonly #pending = new Map<string, Buffer>();
  readonly #values = new Map<string, { value: Json; bytes: number }>();
  #rememberedBytes = 0;

  constructor(layout: Layout, disk: Disk) {
    this.#layout = layout;
    this.#disk = disk;
  }

  readonly keep = (sha256: string, bytes: Buffer): void => {
    if (this.#pending.has(sha256)) return;
    const path = this.#layout.blob(sha256);
    if (existsSync(path)) {
      try {
        // A sign for a collection that runs at this moment: somebody wants it again. It is asked each time, because another
        // process may have deleted it since.
        const now = new Date();
        utimesSync(path, now, now);
        return;
      } catch (error) {
        if (!isCode(error, 'ENOENT')) throw error;
      }
    }
    this.#pending.set(sha256, bytes);
  };

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  async flush(): Promise<void> {
    const folders = new Set<string>();
    const taken = [...this.#pending];
    for (const [sha256, bytes] of taken) {
      const path = this.#layout.blob(sha256);
      const folder = dirname(path);
      if (!folders.has(folder)) {
        if (mkdirSync(folder, { recursive: true, mode: FOLDER_MODE }) !== undefined)
          folders.add(this.#layout.blobs);
        folders.add(folder);
      }
      await placeFile(this.#disk, path, await compress(bytes, PACKING));
    }
    for (const folder of folders) await this.#disk.syncFolder(folder);
    for (const [sha256] of taken) this.#pending.delete(sha256);
  }

  /** As `flush`, for a process that is about to exit: on its way to the disk, without waiting for it. */
  flushNow(): void {
    for (const [sha256, bytes] of this.#pending) {
      const path = this.#layout.blob(sha256);
      mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
      const temporary = `${path}.${process.pid}`;
      writeFileSync(temporary, zstdCompressSync(bytes, PACKING), { mode: FILE_MODE });
      renameSync(temporary, path);
    }
    this.#pending.clear();
  }

  has(sha256: string): boolean {
    return this.#pending.has(sha256) || existsSync(this.#layout.blob(sha256));
  }

  /** A blob's bytes, or undefined when it is not there. Damaged ones throw. */
  read(sha256: string): Buffer | undefined {
    const pending = this.#pending.get(sha256);
    if (pending) return pending;
    const packed = readIfThere(this.#layout.blob(sha256));
    if (packed === undefined) return undefined;
    const bytes = zstdDecompressSync(packed);
    if (hash('sha256', bytes) !== sha256)
      throw new Error(`blob ${sha256} has other content than its name says`);
    return bytes;
  }

  /** The value of a reference; the reference itself when the blob is missing or damaged. */
  readonly resolve: Resolve = (ref: BlobRef): Json => {
    const { sha256, media_type: mediaType } = ref.$blob;
    const key = `${sha256} ${mediaType}`;
    const known = this.#values.get(key);
    if (known) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known.value;
    }
    let bytes: Buffer | undefined;
    try {
      bytes = this.read(sha256);
    } catch {
      // Named by `verify`; the rest of the session is still worth showing.
    }
    if (bytes === undefined) return loseRef(ref);
    const value = blobValue(bytes, mediaType, this.resolve);
    this.#remember(key, value, bytes.length);
    return value;
  };

  #remember(key: string, value: Json, bytes: number): void {
    if (bytes > REMEMBERED / 4) return;
    this.#values.set(key, { value, bytes });
    this.#rememberedBytes += bytes;
    for (const [oldest, entry] of this.#values) {
      if (this.#rememberedBytes <= REMEMBERED) break;
      this.#values.delete(oldest);
      this.#rememberedBytes -= entry.bytes;
    }
  }
}
