/** Bundles as files: `NAME.session.jsonl`, or compressed as `NAME.session.jsonl.zst`. Streaming both ways. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { ChassisError } from '@chassis/errors';
import type { BundleLines } from './store.ts';

const PIECE = 1024 * 1024;
const NEWLINE = Buffer.from('\n');

/** A file's lines. Only byte 0x0A ends one. */
export async function* readBundleFile(path: string): AsyncGenerator<string> {
  for await (const lines of readBundleBatches(path)) for (const line of lines) yield line.toString('utf8');
}

/** The same as bytes, many lines at once. */
export async function* readBundleBatches(path: string): AsyncGenerator<readonly Buffer[]> {
  const file = createReadStream(path, { highWaterMark: PIECE });
  const packed = path.endsWith('.zst');
  const source = packed ? file.pipe(createZstdDecompress()) : file;
  if (packed) file.on('error', (error) => source.destroy(error));
  let parts: Buffer[] = [];
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, start)) {
        const line = piece.subarray(start, end);
        lines.push(parts.length === 0 ? line : Buffer.concat([...parts, line]));
        parts = [];
        start = end + 1;
      }
      if (start < piece.length) parts.push(piece.subarray(start));
      yield lines;
    }
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  } finally {
    file.destroy();
  }
  if (parts.length > 0) yield [Buffer.concat(parts)];
}

/** Writes a bundle; the file appears under its name only when it is whole. */
export async function writeBundleFile(path: string, lines: AsyncIterable<BundleLines>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const bytes = Readable.from(pieces(lines));
  const file = createWriteStream(temporary, { mode: 0o600, highWaterMark: PIECE });
  try {
    if (path.endsWith('.zst')) await pipeline(bytes, createZstdCompress(), file);
    else await pipeline(bytes, file);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Lines with their newlines, gathered: each piece costs a write. */
async function* pieces(batches: AsyncIterable<BundleLines>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for await (const batch of batches) {
    for (const line of typeof batch === 'string' ? [Buffer.from(batch)] : batch) {
      gathered.push(line, NEWLINE);
      size += line.length + 1;
      if (size < PIECE) continue;
      yield Buffer.concat(gathered, size);
      gathered = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(gathered, size);
}
