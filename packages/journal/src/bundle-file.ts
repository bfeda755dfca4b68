/** Bundles as files: `NAME.session.jsonl`, or compressed as `NAME.session.jsonl.zst`. Streaming both ways. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { ChassisError } from '@chassis/errors';

/** A file's lines. Only byte 0x0A ends one. */
export async function* readBundleFile(path: string): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  const packed = path.endsWith('.zst');
  const source = packed ? file.pipe(createZstdDecompress()) : file;
  if (packed) file.on('error', (error) => source.destroy(error));
  let parts: Buffer[] = [];
  try {
    for await (const piece of source as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, start)) {
        parts.push(piece.subarray(start, end));
        yield Buffer.concat(parts).toString('utf8');
        parts = [];
        start = end + 1;
      }
      if (start < piece.length) parts.push(piece.subarray(start));
    }
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  } finally {
    file.destroy();
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString('utf8');
}

/** Writes a bundle; the file appears under its name only when it is whole. */
export async function writeBundleFile(path: string, lines: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const text = Readable.from(
    (async function* () {
      for await (const line of lines) yield `${line}\n`;
    })(),
  );
  const file = createWriteStream(temporary, { mode: 0o600 });
  try {
    if (path.endsWith('.zst')) await pipeline(text, createZstdCompress(), file);
    else await pipeline(text, file);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
