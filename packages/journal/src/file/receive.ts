/**
 * Takes a bundle into a file store.
 *
 * Promise: the session appears whole or not at all; what is there already is never changed.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { sameOrConflict } from '../bundle.ts';
import { BundleReader } from '../bundle-reader.ts';
import { stringifyJson } from '../json.ts';
import { isSessionId } from '../session-id.ts';
import type { BundleLines, Received } from '../store.ts';
import type { BlobFiles } from './blob-files.ts';
import { type Disk, FOLDER_MODE, isCode, placeFile } from './disk.ts';
import { Sealing } from './file-sink.ts';
import { type Layout, SessionLayout } from './layout.ts';

/** Bytes of blobs that are taken before they are written out. */
const BLOB_BATCH = 16 * 1024 * 1024;

export async function receiveBundle(
  layout: Layout,
  disk: Disk,
  blobs: BlobFiles,
  segmentBytes: number,
  lines: AsyncIterable<BundleLines>,
  headOf: (id: string) => Promise<{ seq: number; hash: string }>,
): Promise<Received> {
  layout.prepare();
  const aside = new SessionLayout(join(layout.sessions, `.import-${randomBytes(8).toString('hex')}`));
  mkdirSync(aside.log, { recursive: true, mode: FOLDER_MODE });
  try {
    const bundle = new BundleReader((sha256) => existsSync(layout.blob(sha256)));
    const sealing = new Sealing(disk, aside);
    let segment: Buffer[] = [];
    let first = 0;
    let size = 0;
    let blobBytes = 0;
    const endSegment = async (): Promise<void> => {
      await placeFile(disk, aside.segment(first), Buffer.concat(segment));
      segment = [];
      size = 0;
    };
    for await (const parts of bundle.parts(lines)) {
      let lent: Buffer[] = [];
      for (const part of parts) {
        if (part.kind === 'blob') {
          blobs.keep(part.sha256, part.bytes);
          blobBytes += part.bytes.length;
          if (blobBytes > BLOB_BATCH) {
            await blobs.flush();
            blobBytes = 0;
          }
          continue;
        }
        if (size >= segmentBytes) {
          segment.push(Buffer.concat(lent));
          lent = [];
          const complete = first;
          await endSegment();
          sealing.add(complete);
          first = part.seq;
        }
        lent.push(part.line, NEWLINE);
        size += part.line.length + 1;
      }
      segment.push(Buffer.concat(lent));
    }
    await endSegment();
    await blobs.flush();
    await sealing.done;
    const { header } = bundle;
    const { id } = header;
    if (!isSessionId(id)) throw new ChassisError('InvalidParams', `${JSON.stringify(id)} is no session id`);
    await placeFile(disk, aside.head, Buffer.from(`${stringifyJson(header)}\n`));
    await disk.syncFolder(aside.log);
    await disk.syncFolder(aside.folder);
    const target = layout.session(id);
    if (!existsSync(target.folder)) {
      try {
        renameSync(aside.folder, target.folder);
        await disk.syncFolder(layout.sessions);
        return { session: id, fresh: true };
      } catch (error) {
        if (!isCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      }
    }
    sameOrConflict(id, await headOf(id), bundle.head);
    return { session: id, fresh: false };
  } finally {
    rmSync(aside.folder, { recursive: true, force: true });
  }
}

const NEWLINE = Buffer.from('\n');
