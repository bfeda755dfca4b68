/** What a bundle of the same session can give back: lines that the log lacks, values that are missing. */
import { hash } from 'node:crypto';
import { lineHead } from '../line-head.ts';
import { blobName } from '../lost.ts';
import type { Problem } from '../problem.ts';

export interface Spare {
  /** Lines by sequence number. Nothing is proven yet: the chain decides. */
  readonly lines: ReadonlyMap<number, Buffer>;
  /** Contents by hash, checked. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** @param whole numbers of events that are there: their lines are not kept */
export async function readSpare(
  source: AsyncIterable<string>,
  id: string,
  problems: readonly Problem[],
  whole: ReadonlySet<number>,
): Promise<Spare> {
  const wanted = new Set(problems.map(({ file }) => blobName(file)));
  const lines = new Map<number, Buffer>();
  const blobs = new Map<string, Buffer>();
  const waiting = new Map<string, Buffer>();
  for await (const raw of source) {
    const text = raw.replace(/\r?\n?$/, '');
    if (text.startsWith('{"blob":')) {
      const blob = contentOf(text);
      if (blob && wanted.has(blob.sha256)) blobs.set(blob.sha256, blob.bytes);
      else if (blob) waiting.set(blob.sha256, blob.bytes);
      continue;
    }
    const line = Buffer.from(text);
    const head = lineHead(line);
    if (head?.session === id && !whole.has(head.seq)) {
      lines.set(head.seq, line);
      // A line that comes back brings the values that it refers to, which stand before it.
      for (const [sha256, bytes] of waiting) if (text.includes(sha256)) blobs.set(sha256, bytes);
    }
    if (head) waiting.clear();
  }
  return { lines, blobs };
}

function contentOf(text: string): { sha256: string; bytes: Buffer } | undefined {
  try {
    const { blob } = JSON.parse(text) as { blob: { sha256: string; base64: string } };
    const bytes = Buffer.from(blob.base64, 'base64');
    return hash('sha256', bytes) === blob.sha256 ? { sha256: blob.sha256, bytes } : undefined;
  } catch {
    // A damaged line of the bundle gives nothing back.
    return undefined;
  }
}
