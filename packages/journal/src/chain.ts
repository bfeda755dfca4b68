/**
 * Follows the hash chain line by line and tells a whole line from a damaged, repeated or missing one.
 *
 * Promise: a changed bit is noticed at its own line, and the lines after it are still recognised as whole.
 */
import { carries, computedHash, GENESIS, storedHash, TAIL } from './line.ts';
import { lineHead, type ReadHead } from './line-head.ts';
import { lostRange, lostText } from './lost.ts';

export interface Checked {
  /** Whether the bytes are what the writer wrote, as far as can be known. */
  readonly whole: boolean;
  readonly head?: ReadHead;
  readonly hash?: string;
  readonly problem?: { readonly kind: string; readonly message: string; readonly seq?: number };
}

/** How many of the last hashes a line may follow; more than one only after damage or two writers. */
const REACH = 8;

export class Chain {
  /** Sequence number that comes next. */
  expected: number;
  /** Hash of the last whole line. */
  hash: string;
  /** Hashes that the next line may follow, the likeliest first. */
  readonly #previous: string[];
  #damaged = false;
  /** The number that comes next if each damaged line was one event, and the last of them still carries a hash. */
  #due = Number.NaN;
  /** Set when nothing is known about what came before: the first line is taken as it is. */
  #open = false;

  constructor(expected = 0, hash = GENESIS) {
    this.expected = expected;
    this.hash = hash;
    this.#previous = [hash];
  }

  /** A chain that starts anywhere, taking the first line on trust. */
  static from(seq: number): Chain {
    const chain = new Chain(seq);
    chain.#open = true;
    chain.#previous.length = 0;
    return chain;
  }

  check(line: Buffer): Checked {
    const head = lineHead(line);
    const [latest] = this.#previous;
    // Nearly every line is the one that is due. The hash before it is kept too: a second writer starts from there.
    if (head?.seq === this.expected && latest !== undefined && line.length > TAIL) {
      const hash = computedHash(latest, line);
      if (carries(line, hash)) {
        this.#damaged = false;
        this.#open = false;
        this.expected++;
        this.hash = hash;
        this.#previous[0] = hash;
        this.#previous[1] = latest;
        if (this.#previous.length > 2) this.#previous.length = 2;
        return { whole: true, head, hash };
      }
    }
    const stored = storedHash(line);
    const lost = head === undefined ? lostRange(line) : undefined;
    if (lost && stored !== undefined) {
      this.#damaged = true;
      this.#due = Number.NaN;
      this.#remember(stored);
      return damaged('lost', lostText(lost), lost.from);
    }
    if (stored === undefined || head === undefined) {
      this.#lose(line, stored);
      return damaged('parse', 'this is no whole event');
    }
    const follows = this.#previous.find((previous) => computedHash(previous, line) === stored);
    if (follows === undefined && (!this.#anchors(head, stored) || this.#misnumbered(line, head, stored))) {
      this.#lose(line, stored);
      return { ...damaged('hash', 'its bytes do not match its hash', head.seq), head };
    }
    // After an open start the first line says where we are.
    const missing = this.#open ? 0 : head.seq - this.expected;
    const problem =
      missing < 0
        ? { kind: 'duplicate', message: `sequence number ${head.seq} stands here again`, seq: head.seq }
        : (missing > 0 && !(this.#damaged && follows !== undefined)) || follows === undefined
          ? this.#gap(head.seq)
          : undefined;
    this.#damaged = false;
    this.#open = false;
    if (missing < 0) {
      this.#remember(stored);
    } else {
      this.expected = head.seq + 1;
      this.hash = stored;
      this.#remember(stored);
    }
    return { whole: true, head, hash: stored, ...(problem ? { problem } : {}) };
  }

  /** Whether a line that follows nothing known may be the first one after a hole. */
  #anchors(head: ReadHead, stored: string): boolean {
    if (!isHash(stored)) return false;
    // Nothing is missing before it, and what stands there has a hash: then it follows that one, or is damaged itself.
    return this.#open || (head.seq > this.expected && !(this.#damaged && head.seq === this.#due));
  }

  /** Whether only its sequence number was damaged: with the number that is due it would follow. */
  #misnumbered(line: Buffer, head: ReadHead, stored: string): boolean {
    const [latest] = this.#previous;
    if (latest === undefined) return false;
    const text = line.toString('latin1');
    const due = Buffer.from(text.replace(`"seq":${head.seq},`, `"seq":${this.expected},`), 'latin1');
    return computedHash(latest, due) === stored;
  }

  #gap(seq: number): Checked['problem'] {
    if (this.#open) return undefined;
    return {
      kind: 'gap',
      message:
        seq > this.expected
          ? `events ${this.expected} to ${seq - 1} are missing before it`
          : 'it does not follow the event before it',
      seq: this.expected,
    };
  }

  /** A damaged line: the next one follows what it says, or what its bytes give if just its hash was hit. */
  #lose(line: Buffer, stored: string | undefined): void {
    const next = (this.#damaged ? this.#due : this.expected) + 1;
    this.#due = isHash(stored) ? next : Number.NaN;
    this.#damaged = true;
    const [latest] = this.#previous;
    if (latest !== undefined && line.length > TAIL) this.#remember(computedHash(latest, line));
    if (isHash(stored)) this.#remember(stored);
  }

  #remember(...hashes: string[]): void {
    this.#previous.unshift(...hashes);
    this.#previous.splice(REACH);
  }
}

function isHash(stored: string | undefined): stored is string {
  return stored !== undefined && /^[0-9a-f]{64}$/.test(stored);
}

function damaged(kind: string, message: string, seq?: number): Checked {
  return { whole: false, problem: { kind, message, ...(seq === undefined ? {} : { seq }) } };
}
