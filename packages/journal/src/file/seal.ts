/**
 * Seals a complete segment: the same bytes in compressed frames of about 512 KiB, each readable on its own, with an offset
 * table beside it.
 *
 * Promise: at every moment one whole form of the segment is in place; the plain one goes only after the sealed one is
 * durable.
 */
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { lineHead } from '../line-head.ts';
import { type Disk, placeFile } from './disk.ts';
import { offsetTable, type SessionLayout } from './layout.ts';
import type { Frame, OffsetTable } from './offset-table.ts';
import { dropPlaces } from './places.ts';
import { readLines } from './segment-reader.ts';

const compress = promisify(zstdCompress);
/** Small enough to be unpacked for one event, large enough to be packed well. */
const FRAME_BYTES = 512 * 1024;
const NEWLINE = Buffer.from('\n');

export async function sealSegment(disk: Disk, layout: SessionLayout, first: number): Promise<void> {
  const plain = layout.segment(first);
  const packed: Buffer[] = [];
  const frames: Frame[] = [];
  let offset = 0;
  let rawOffset = 0;
  let lines: Buffer[] = [];
  let rawLength = 0;
  const endFrame = async (): Promise<void> => {
    if (lines.length === 0) return;
    const bytes = await compress(Buffer.concat(lines), { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    const seq = lineHead(lines[0] as Buffer)?.seq ?? frames.at(-1)?.seq ?? first;
    frames.push({ seq, offset, length: bytes.length, rawOffset, rawLength });
    packed.push(bytes);
    offset += bytes.length;
    rawOffset += rawLength;
    lines = [];
    rawLength = 0;
  };
  for await (const batch of readLines({ first, path: plain, sealed: false })) {
    for (const line of batch) {
      lines.push(line.bytes, ...(line.ended ? [NEWLINE] : []));
      rawLength += line.bytes.length + (line.ended ? 1 : 0);
      if (rawLength >= FRAME_BYTES) await endFrame();
    }
  }
  await endFrame();
  if (frames.length === 0) return;
  const sealed = `${plain}.zst`;
  const table: OffsetTable = { v: 1, bytes: offset, frames };
  await placeFile(disk, offsetTable(sealed), Buffer.from(`${JSON.stringify(table)}\n`));
  await placeFile(disk, sealed, Buffer.concat(packed));
  await disk.syncFolder(layout.log);
  rmSync(plain, { force: true });
  dropPlaces(plain);
}
