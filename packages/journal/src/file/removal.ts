/** Removing sessions and collecting blobs that nobody refers to any more. */
import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { BlobFiles } from './blob-files.ts';
import { isCode, statIfThere } from './disk.ts';
import type { Layout } from './layout.ts';
import { isAlive } from './listing.ts';
import { liveness, readHolder, takeLock } from './lock.ts';
import { readLines } from './segment-reader.ts';
import { readHeader } from './session-files.ts';

/** While sessions are being written, blobs younger than this may be about to be referred to, in milliseconds. */
const GRACE_MS = 60 * 60 * 1000;

/** Ids of the forks that read their past from this session. */
async function forksOf(layout: Layout, id: string): Promise<string[]> {
  const forks: string[] = [];
  for (const other of layout.ids()) {
    try {
      const { parent } = await readHeader(layout, other);
      if (parent?.session === id && layout.session(other).segments()[0]?.first !== 0) forks.push(other);
    } catch {
      // What cannot be opened cannot be resumed either; its own files stay.
    }
  }
  return forks;
}

/** @throws ChassisError Conflict while it is being written or a fork needs it, unless `force` */
export async function removeSession(layout: Layout, id: string, force: boolean): Promise<number> {
  const session = layout.session(id);
  if (!force) {
    const holder = readHolder(session.lock);
    if (holder && liveness(holder) !== 'dead') {
      throw new ChassisError(
        'Conflict',
        `session ${id} is open for writing in process ${holder.pid} on ${holder.host}`,
        {
          data: { holder },
        },
      );
    }
    const forks = await forksOf(layout, id);
    if (forks.length > 0) {
      throw new ChassisError(
        'Conflict',
        `session ${id} is the past of its ${forks.length === 1 ? 'fork' : 'forks'} ${forks.join(', ')}`,
        {
          data: { forks },
        },
      );
    }
  }
  const bytes = bytesBelow(session.folder);
  // Out of sight in one step; an interrupted removal is finished by the next collection.
  const aside = join(layout.sessions, `.removed-${id}-${randomBytes(4).toString('hex')}`);
  renameSync(session.folder, aside);
  rmSync(aside, { recursive: true, force: true });
  return bytes;
}

/**
 * Deletes blobs whose hash stands in no log (nor in a blob that is referred to).
 * @throws ChassisError Conflict when a log cannot be read: what it refers to is not known
 */
export async function collectBlobs(layout: Layout, blobs: BlobFiles): Promise<number> {
  const lock = takeLock(join(layout.root, 'collect.lock'), 'this store');
  try {
    let freed = finishRemovals(layout);
    const busy = isImporting(layout) || layout.ids().some((id) => isAlive(layout.session(id)));
    const stored = storedBlobs(layout);
    for (const sha256 of await referencedBlobs(layout, blobs, stored)) stored.delete(sha256);
    const youngest = busy ? Date.now() - GRACE_MS : Number.POSITIVE_INFINITY;
    for (const path of stored.values()) {
      const stat = statIfThere(path);
      if (!stat || stat.mtimeMs > youngest) continue;
      rmSync(path, { force: true });
      freed += stat.size;
    }
    return freed;
  } finally {
    lock.release();
  }
}

/** Waits until no collection is running: what it deletes must not be what a new writer counts on. */
export async function afterCollection(layout: Layout): Promise<void> {
  const path = join(layout.root, 'collect.lock');
  for (;;) {
    const holder = readHolder(path);
    if (!holder || liveness(holder) !== 'alive') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What an interrupted import or repair leaves behind goes like an interrupted removal, once nobody can be at it any more. */
function isAbandoned(layout: Layout, name: string): boolean {
  if (name.startsWith('.removed-')) return true;
  const age = Date.now() - (statIfThere(join(layout.sessions, name))?.mtimeMs ?? 0);
  return /^\.(import|repair)-/.test(name) && age > 24 * GRACE_MS;
}

function isImporting(layout: Layout): boolean {
  return readdirSync(layout.sessions).some((name) => name.startsWith('.import-'));
}

function finishRemovals(layout: Layout): number {
  let freed = 0;
  for (const name of readdirSync(layout.sessions)) {
    if (!isAbandoned(layout, name)) continue;
    freed += bytesBelow(join(layout.sessions, name));
    rmSync(join(layout.sessions, name), { recursive: true, force: true });
  }
  return freed;
}

function storedBlobs(layout: Layout): Map<string, string> {
  const stored = new Map<string, string>();
  for (const folder of readdirSync(layout.blobs)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of readdirSync(join(layout.blobs, folder))) {
      const match = /^([0-9a-f]{64})\.zst$/.exec(name);
      if (match?.[1]) stored.set(match[1], join(layout.blobs, folder, name));
    }
  }
  return stored;
}

/** Any 64 hex digits that are a blob's name count as a reference: rather keep one too many. */
async function referencedBlobs(
  layout: Layout,
  blobs: BlobFiles,
  stored: ReadonlyMap<string, string>,
): Promise<Set<string>> {
  const referenced = new Set<string>();
  const open: string[] = [];
  const note = (text: string): void => {
    for (const [sha256] of text.matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) {
      if (!stored.has(sha256) || referenced.has(sha256)) continue;
      referenced.add(sha256);
      open.push(sha256);
    }
  };
  for (const id of layout.ids()) {
    for (const segment of layout.session(id).segments()) {
      try {
        for await (const lines of readLines(segment))
          for (const { bytes } of lines) note(bytes.toString('latin1'));
      } catch (cause) {
        throw new ChassisError(
          'Conflict',
          `session ${id} cannot be read, so nothing is deleted: ${(cause as Error).message}`,
          {
            cause,
            data: { session: id, file: segment.path },
          },
        );
      }
    }
  }
  for (let sha256 = open.pop(); sha256 !== undefined; sha256 = open.pop()) {
    try {
      note(blobs.read(sha256)?.toString('latin1') ?? '');
    } catch {
      // A damaged blob refers to nothing that could still be found.
    }
  }
  return referenced;
}

function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    try {
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error;
    }
  }
  return bytes;
}
