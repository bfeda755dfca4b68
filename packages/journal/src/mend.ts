/**
 * Puts right what one flipped bit did to a line, or to the newline between two.
 *
 * Promise: what comes back is what the writer wrote: SHA-256 bears it out.
 */
import { computedHash, storedHash, TAIL } from './line.ts';

/** Every bit of a line costs one hash over the line: beyond this it would take minutes. */
const LONGEST = 16 * 1024;
const NEWLINE = 10;

/**
 * @param before hash of the last whole line
 * @param damaged the lines between it and the next whole one, without their newlines
 * @param next the next whole line, if there is one
 * @returns the lines as they were written, or undefined when more than a bit is wrong
 */
export function mend(
  before: string,
  damaged: readonly Buffer[],
  next: Buffer | undefined,
): Buffer[] | undefined {
  for (const attempt of [lineByLine, split, joined]) {
    const lines = attempt(before, damaged);
    if (lines && follows(before, lines, next)) return lines;
  }
  return undefined;
}

/** Whether lines follow a hash, each the one before it, and the next whole line the last of them. */
export function follows(before: string, lines: readonly Buffer[], next: Buffer | undefined): boolean {
  let hash = before;
  for (const line of next === undefined ? lines : [...lines, next]) {
    const stored = storedHash(line);
    if (stored === undefined || computedHash(hash, line) !== stored) return false;
    hash = stored;
  }
  return true;
}

function lineByLine(before: string, damaged: readonly Buffer[]): Buffer[] | undefined {
  const lines: Buffer[] = [];
  let hash = before;
  for (const line of damaged) {
    const mended = mendLine(hash, line);
    if (mended === undefined) return undefined;
    lines.push(mended);
    hash = storedHash(mended) as string;
  }
  return lines;
}

/** Two lines that became one because the newline between them was hit. */
function split(_before: string, damaged: readonly Buffer[]): Buffer[] | undefined {
  const lines: Buffer[] = [];
  for (const line of damaged) {
    let start = 0;
    for (let at = line.indexOf('{"v":', 1); at !== -1; at = line.indexOf('{"v":', at + 1)) {
      if (line.toString('latin1', at - 3, at - 1) !== '"}') continue;
      lines.push(line.subarray(start, at - 1));
      start = at;
    }
    lines.push(line.subarray(start));
  }
  return lines.length > damaged.length ? lines : undefined;
}

/** One line that became two because a byte of it turned into a newline. */
function joined(before: string, damaged: readonly Buffer[]): Buffer[] | undefined {
  const [first, second] = damaged;
  if (damaged.length !== 2 || !first || !second) return undefined;
  for (let bit = 0; bit < 8; bit++) {
    const line = Buffer.concat([first, Buffer.of(NEWLINE ^ (1 << bit)), second]);
    if (follows(before, [line], undefined)) return [line];
  }
  return undefined;
}

/** One line of a log that follows a hash, put right; undefined when more than a bit is wrong. */
export function mendLine(before: string, line: Buffer): Buffer | undefined {
  if (line.length <= TAIL) return undefined;
  const computed = computedHash(before, line);
  const stored = storedHash(line);
  if (stored === computed) return line;
  // The line with the hash that its bytes give: if it differs in one bit, that bit was the fault.
  const rebuilt = Buffer.concat([
    line.subarray(0, line.length - TAIL),
    Buffer.from(`,"hash":"${computed}"}`),
  ]);
  if (distance(rebuilt, line) === 1) return rebuilt;
  if (stored === undefined || line.length > LONGEST) return undefined;
  const copy = Buffer.from(line);
  for (let at = 0; at < line.length - TAIL; at++) {
    for (let bit = 0; bit < 8; bit++) {
      copy[at] = (line[at] as number) ^ (1 << bit);
      if (computedHash(before, copy) === stored) return copy;
    }
    copy[at] = line[at] as number;
  }
  return undefined;
}

/** In how many bits two buffers of one length differ; more than one is all the same. */
function distance(a: Buffer, b: Buffer): number {
  let bits = 0;
  for (let at = 0; at < a.length && bits < 2; at++) {
    for (let rest = (a[at] as number) ^ (b[at] as number); rest !== 0; rest &= rest - 1) bits++;
  }
  return bits;
}
