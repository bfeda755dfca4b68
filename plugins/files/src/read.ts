/**
 * `read_file`: a range of a text file's lines.
 *
 * Promise: memory stays bounded whatever the file's size; what was left out is stated; bytes that are no UTF-8
 * text are never turned into look-alikes.
 */
import type { FileHandle } from 'node:fs/promises';
import type { InvokeContext } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { decodeText, looksBinary, wholeCharacters } from './text.ts';
import { openForReading } from './workspace.ts';

/** Most bytes of one answer. */
const MAX_BYTES = 256 * 1024;
const DEFAULT_LINES = 2000;
const PIECE = 64 * 1024;
const LF = 0x0a;

export interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

export async function readFile(input: ReadInput, ctx: InvokeContext): Promise<JsonObject> {
  const { file: opened, shown: path } = await openForReading(ctx.workspace, input.path);
  await using file = opened;
  const first = input.offset ?? 1;
  const range = await readLines(file, first, input.limit ?? DEFAULT_LINES, ctx.signal);
  const text = range.binary ? undefined : decodeText(range.bytes);
  if (text === undefined) {
    return { path, content: null, binary: true, total_bytes: range.totalBytes, truncated: false };
  }
  const bom = first === 1 && text.startsWith('\uFEFF');
  const last = range.lines === 0 ? 0 : first + range.lines - 1;
  const truncated = range.cut || first > 1 || last < range.totalLines;
  return {
    path,
    content: bom ? text.slice(1) : text,
    binary: false,
    total_bytes: range.totalBytes,
    total_lines: range.totalLines,
    first_line: first,
    last_line: last,
    truncated,
    ...(last > 0 && last < range.totalLines ? { next_offset: last + 1 } : {}),
    ...(range.cut ? { line_cut: true } : {}),
    ...(bom ? { bom: true } : {}),
  };
}

interface Range {
  readonly bytes: Uint8Array;
  /** Lines that `bytes` holds, a cut one included. */
  readonly lines: number;
  readonly cut: boolean;
  readonly totalBytes: number;
  readonly totalLines: number;
  readonly binary: boolean;
}

async function readLines(
  file: FileHandle,
  first: number,
  limit: number,
  signal: AbortSignal,
): Promise<Range> {
  const piece = Buffer.allocUnsafe(PIECE);
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let totalBytes = 0;
  let lastByte = LF;
  let binary = false;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(piece, 0, PIECE, null);
    if (bytesRead === 0) break;
    const bytes = piece.subarray(0, bytesRead);
    if (totalBytes === 0) binary = looksBinary(bytes);
    totalBytes += bytesRead;
    lastByte = bytes[bytesRead - 1] ?? LF;
    let start = 0;
    while (start < bytesRead) {
      const newline = bytes.indexOf(LF, start);
      const end = newline < 0 ? bytesRead : newline + 1;
      // One byte more than the limit tells a full answer from one that must be cut.
      if (line >= first && line < first + limit && keptBytes <= MAX_BYTES) {
        const part = Buffer.from(bytes.subarray(start, Math.min(end, start + MAX_BYTES + 1 - keptBytes)));
        kept.push(part);
        keptBytes += part.length;
      }
      if (newline >= 0) line++;
      start = end;
    }
  }
  const totalLines = lastByte === LF ? line - 1 : line;
  const all = Buffer.concat(kept);
  if (all.length <= MAX_BYTES) {
    return { bytes: all, lines: countLines(all), cut: false, totalBytes, totalLines, binary };
  }
  const whole = all.subarray(0, MAX_BYTES).lastIndexOf(LF) + 1;
  if (whole > 0) {
    const bytes = all.subarray(0, whole);
    return { bytes, lines: countLines(bytes), cut: false, totalBytes, totalLines, binary };
  }
  return {
    bytes: wholeCharacters(all.subarray(0, MAX_BYTES)),
    lines: 1,
    cut: true,
    totalBytes,
    totalLines,
    binary,
  };
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === LF) lines++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== LF ? lines + 1 : lines;
}
