/**
 * Goes through a log line by line and puts together what it should have been: whole lines as they are, damaged ones mended or
 * taken from elsewhere, a mark where neither is possible.
 */
import { computedHash, storedHash } from '../line.ts';
import { type LostRange, lostMark, lostText } from '../lost.ts';
import { follows, mend, mendLine } from '../mend.ts';
import type { Problem } from '../problem.ts';
import type { Segment } from './layout.ts';
import type { ScannedLine } from './log-scan.ts';
import type { Spare } from './spare.ts';

/** Damaged lines before the next whole one that are tried as beginnings of what can be put right: each costs many hashes. */
const TRIED = 4;

/** A segment that needs no more; without lines it stays as it is. */
export interface MendedSegment {
  readonly segment: Segment;
  readonly lines: readonly Buffer[] | undefined;
}

interface Output {
  readonly segment: Segment;
  lines: Buffer[];
  changed: boolean;
}

export interface MendingStart {
  /** What comes first: its number, and the hash it follows. */
  readonly expected: number;
  readonly hash: string;
  readonly spare: Spare | undefined;
  /** The segment that may end in half a line: the next opening sets that aside. */
  readonly openSegment: Segment | undefined;
  /** Where lines go that come back to a log in which nothing is left. */
  readonly fallback: Segment;
}

const NEWLINE = Buffer.from('\n');

export class Mending {
  /** What was done, in order. */
  readonly actions: Problem[] = [];
  /** Events that are gone. */
  readonly lost: LostRange[] = [];
  readonly #start: MendingStart;
  #expected: number;
  #hash: string;
  #outputs: Output[] = [];
  /** Damaged lines since the last whole one. */
  #damaged: ScannedLine[] = [];
  /** Lines whose number was there already. */
  #again: ScannedLine[] = [];

  constructor(start: MendingStart) {
    this.#start = start;
    this.#expected = start.expected;
    this.#hash = start.hash;
  }

  take(scanned: ScannedLine): void {
    // The bytes are lent for one batch only.
    const line = { ...scanned, bytes: Buffer.from(scanned.bytes) };
    if (this.#outputs.at(-1)?.segment.first !== line.segment.first)
      this.#outputs.push({ segment: line.segment, lines: [], changed: false });
    const { whole, head, hash } = line.checked;
    if (!whole || !head || hash === undefined || this.#isHitToo(line)) {
      this.#damaged.push(line);
    } else if (line.problem?.kind === 'duplicate') {
      this.#again.push(line);
    } else {
      this.#choose(line.bytes);
      this.#settle(line);
      this.#put(this.#outputs.at(-1), [line.bytes]);
      this.#expected = head.seq + 1;
      this.#hash = hash;
    }
  }

  end(): void {
    this.#choose(undefined);
    this.#settle(undefined);
  }

  /** Segments that are complete, each once. @param all also the last one */
  finished(all = false): MendedSegment[] {
    if (!all && (this.#damaged.length > 0 || this.#again.length > 0)) return [];
    const done = this.#outputs.splice(0, this.#outputs.length - (all ? 0 : 1));
    return done.map(({ segment, lines, changed }) => ({ segment, lines: changed ? lines : undefined }));
  }

  /** Of lines with the same number those stay that the log goes on from. */
  #choose(next: Buffer | undefined): void {
    const again = this.#again;
    const [first] = again;
    if (first === undefined) return;
    this.#again = [];
    for (const output of this.#outputs) output.changed = true;
    const others = next !== undefined && !follows(this.#hash, [], next);
    const last = again.at(-1) as ScannedLine;
    const seq = first.checked.head?.seq as number;
    if (
      others &&
      storedHash(last.bytes) !== undefined &&
      follows(storedHash(last.bytes) as string, [], next)
    ) {
      for (const output of this.#outputs) output.lines = output.lines.filter((line) => numberOf(line) < seq);
      for (const line of again) this.#put(this.#outputOf(line), [line.bytes]);
      this.#hash = last.checked.hash as string;
    }
    const message = `number ${seq} was used twice; the lines that the log does not go on from are moved out of it`;
    this.#act('removed', message, first, seq);
  }

  /** A line behind a damaged one counts as whole when nothing tells against it; once that one is put right, something does. */
  #isHitToo({ bytes, problem, checked: { head } }: ScannedLine): boolean {
    if (problem?.kind !== 'gap' || this.#again.length > 0 || this.#damaged.length === 0) return false;
    this.#damaged = [...this.#mendFront(this.#damaged, (head?.seq ?? 0) - 1)];
    const last = this.#damaged.at(-1);
    if (last === undefined) return this.#expected === head?.seq && !follows(this.#hash, [], bytes);
    const before = storedHash(last.bytes);
    return before !== undefined && !follows(before, [], bytes) && mendLine(before, bytes) !== undefined;
  }

  /** Decides about what stands between the last whole line and the next. */
  #settle(next: ScannedLine | undefined): void {
    const damaged = this.#damaged;
    this.#damaged = [];
    const [first] = damaged;
    const to = (next?.checked.head?.seq ?? Number.POSITIVE_INFINITY) - 1;
    if (
      first === undefined &&
      (next === undefined ? !this.#start.spare?.lines.has(this.#expected) : this.#expected > to)
    )
      return;
    const restored = this.#restore(to);
    if (next ? follows(this.#hash, [], next.bytes) : restored && this.#isTail(damaged)) {
      if (restored) this.#changed(damaged);
      else if (first) this.#removeForeign(damaged);
      return;
    }
    const mended = this.#mended(damaged, next);
    if (first && mended) {
      this.#takeMended(damaged, mended);
      return;
    }
    const rest = this.#mendFront(damaged, to);
    if (next === undefined && this.#isTail(rest)) {
      // It stays: the next opening sets it aside.
      for (const line of rest) this.#put(this.#outputOf(line), [line.bytes], line.ended);
      return;
    }
    const back = this.#mendedBack(rest, next);
    if (back === undefined) {
      this.#lose(rest, next?.bytes, Number.isFinite(to) ? to : this.#expected);
      return;
    }
    const [begin, lines] = back;
    this.#lose(rest.slice(0, begin), lines[0], numberOf(lines[0] as Buffer) - 1);
    this.#takeMended(rest.slice(begin), lines);
  }

  #takeMended(damaged: readonly ScannedLine[], mended: readonly Buffer[]): void {
    const [first] = damaged;
    const [begin, last] = [mended[0] as Buffer, mended.at(-1) as Buffer];
    if (first === undefined) return;
    this.#changed(damaged);
    this.#put(this.#outputOf(first), mended);
    const what = mended.length === 1 ? 'a line' : `${mended.length} lines`;
    this.#act('mended', `${what} put right: one bit had flipped`, first, numberOf(begin));
    this.#expected = numberOf(last) + 1;
    this.#hash = storedHash(last) as string;
  }

  /** Puts right what can be from the front, each line by the hash of the one before it; answers what is left. */
  #mendFront(damaged: readonly ScannedLine[], to: number): readonly ScannedLine[] {
    for (const [index, line] of damaged.entries()) {
      const mended =
        line.ended && !line.fault && this.#expected <= to ? mendLine(this.#hash, line.bytes) : undefined;
      if (mended === undefined || numberOf(mended) !== this.#expected) return damaged.slice(index);
      this.#takeMended([line], [mended]);
    }
    return [];
  }

  /** Of lines that the next whole one follows: which can be put right by the hash that the lost line before them still says. */
  #mendedBack(
    damaged: readonly ScannedLine[],
    next: ScannedLine | undefined,
  ): readonly [number, readonly Buffer[]] | undefined {
    if (next === undefined) return undefined;
    for (let begin = Math.max(1, damaged.length - TRIED + 1); begin < damaged.length; begin++) {
      const before = storedHash((damaged[begin - 1] as ScannedLine).bytes);
      const rest = damaged.slice(begin);
      if (before === undefined || rest.some(({ fault, ended }) => fault || !ended)) continue;
      const bytes = rest.map((line) => line.bytes);
      const mended = mend(before, bytes, next.bytes);
      if (mended && numberOf(mended[0] as Buffer) > this.#expected) return [begin, mended];
    }
    return undefined;
  }

  /** Takes lines from the bundle, as far as each follows the one before it. */
  #restore(to: number): boolean {
    const from = this.#expected;
    for (let line = this.#spareAt(to); line; line = this.#spareAt(to)) {
      const output =
        this.#outputs.findLast(({ segment }) => segment.first <= this.#expected) ??
        this.#outputs[0] ??
        this.#begin();
      this.#put(output, [line]);
      output.changed = true;
      this.#expected++;
      this.#hash = storedHash(line) as string;
    }
    if (this.#expected === from) return false;
    const what =
      this.#expected - from === 1 ? `event ${from} comes` : `events ${from} to ${this.#expected - 1} come`;
    this.#act('restored', `${what} back from the bundle`, undefined, from);
    return true;
  }

  #begin(): Output {
    const output = { segment: this.#start.fallback, lines: [], changed: true };
    this.#outputs.push(output);
    return output;
  }

  #spareAt(to: number): Buffer | undefined {
    const line = this.#expected <= to ? this.#start.spare?.lines.get(this.#expected) : undefined;
    return line && follows(this.#hash, [line], undefined) ? line : undefined;
  }

  #mended(damaged: readonly ScannedLine[], next: ScannedLine | undefined): Buffer[] | undefined {
    if (damaged.length === 0 || damaged.some(({ fault }) => fault)) return undefined;
    const bytes = damaged.map((line) => line.bytes);
    const last = damaged.at(-1) as ScannedLine;
    // Of the newline itself something else was left.
    const unended = last.ended ? [] : [[...bytes.slice(0, -1), last.bytes.subarray(0, -1)]];
    for (const lines of [...unended, bytes]) {
      const mended = mend(this.#hash, lines, next?.bytes);
      if (mended) return mended;
    }
    return undefined;
  }

  #lose(damaged: readonly ScannedLine[], next: Buffer | undefined, to: number): void {
    const [first] = damaged;
    const from = this.#expected;
    if (first && from > to) {
      this.#removeForeign(damaged);
      return;
    }
    if (from > to) return;
    const range = { from, to };
    this.lost.push(range);
    const known = damaged.length === 1 && first?.problem?.kind === 'lost';
    if (!known) this.#act('lost', lostText(range), first, from);
    if (first === undefined) return;
    const output = this.#outputOf(first);
    if (known) {
      this.#put(output, [first.bytes]);
      return;
    }
    this.#changed(damaged);
    const stored = storedHash((damaged.at(-1) as ScannedLine).bytes);
    const hash = stored && next && computedHash(stored, next) === storedHash(next) ? stored : undefined;
    const bytes = damaged.reduce((sum, line) => sum + (line.problem?.length ?? 0), 0);
    this.#put(output, [lostMark({ ...range, bytes, quarantine: first.problem?.file ?? '' }, hash)]);
  }

  #removeForeign(damaged: readonly ScannedLine[]): void {
    this.#changed(damaged);
    if (!damaged.some(({ checked }) => checked.problem?.kind === 'lost'))
      this.#act('removed', 'what is no event is moved out of the log', damaged[0], undefined);
  }

  /** Damage behind the last whole line of the segment that was being written. */
  #isTail(damaged: readonly ScannedLine[]): boolean {
    const { openSegment } = this.#start;
    return openSegment !== undefined && damaged.every(({ segment }) => segment.first === openSegment.first);
  }

  #changed(damaged: readonly ScannedLine[]): void {
    for (const line of damaged) this.#outputOf(line).changed = true;
  }

  #outputOf({ segment }: ScannedLine): Output {
    return this.#outputs.find((output) => output.segment.first === segment.first) as Output;
  }

  #put(output: Output | undefined, lines: readonly Buffer[], ended = true): void {
    for (const line of lines) output?.lines.push(ended ? Buffer.concat([line, NEWLINE]) : line);
  }

  #act(kind: string, message: string, line: ScannedLine | undefined, seq: number | undefined): void {
    const { file, offset, length } = line?.problem ?? {};
    const place =
      file === undefined
        ? {}
        : { file, ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) };
    this.actions.push({ kind, message, ...place, ...(seq === undefined ? {} : { seq }) });
  }
}

function numberOf(line: Buffer): number {
  return Number(/"seq":(\d+)/.exec(line.toString('latin1', 0, 300))?.[1] ?? Number.NaN);
}
