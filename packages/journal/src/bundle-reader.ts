/** Reads a bundle part by part, each checked against the hash chain and the content hashes. */
import { hash } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import { blobRefsIn, refersOnlyTo } from './blob-ref.ts';
import { Chain } from './chain.ts';
import type { SessionHeader } from './event.ts';
import { parseJson } from './json.ts';
import { decodeLine } from './line.ts';
import { lostRange } from './lost.ts';
import { missingBlob, OpenLosses } from './open-losses.ts';
import type { Problem } from './problem.ts';
import { readSignature, SIGNATURE_START, type SignedHead } from './signature.ts';
import type { BundleLines } from './store.ts';
import { checkVersion } from './upgrade.ts';

const BLOB = Buffer.from('{"blob":');
const SIGNATURE = Buffer.from(SIGNATURE_START);
const [NEWLINE, RETURN] = [10, 13];

/** What a bundle consists of, each part checked. */
export type BundlePart =
  | { readonly kind: 'blob'; readonly sha256: string; readonly bytes: Buffer }
  /** `mark`: a line that stands for events that are lost. */
  | { readonly kind: 'event'; readonly line: Buffer; readonly seq: number; readonly mark?: boolean };

/** Reads a bundle part by part; after the last one it knows whose it is. */
export class BundleReader {
  /** The last line of a signed bundle; what it is worth, `readSignature` says. */
  signature: string | undefined;
  readonly #chain = new Chain();
  readonly #contents = new Set<string>();
  readonly #has: (sha256: string) => boolean;
  readonly #losses = new OpenLosses(({ message }, line) => this.#damaged(message, line));
  #header: SessionHeader | undefined;
  #line = 0;

  /** @param has whether a blob is there already, so that the bundle need not bring it */
  constructor(has: (sha256: string) => boolean = () => false) {
    this.#has = has;
  }

  /** The session's header. */
  get header(): SessionHeader {
    if (this.#header) return this.#header;
    throw this.#damaged('it has no session.opened event');
  }

  /** Number and hash of the last event. */
  get head(): { readonly seq: number; readonly hash: string } {
    return { seq: this.#chain.expected - 1, hash: this.#chain.hash };
  }

  get #signedHead(): SignedHead {
    return { session: this.header.id, ...this.head };
  }

  /** What is missing and was put on record by a repair. */
  get losses(): readonly Problem[] {
    return this.#losses.known;
  }

  /** A batch of parts for each batch of lines. */
  async *parts(batches: AsyncIterable<BundleLines>): AsyncGenerator<BundlePart[]> {
    for await (const batch of batches) {
      const parts: BundlePart[] = [];
      for (const line of typeof batch === 'string' ? [Buffer.from(batch)] : batch) {
        this.#line++;
        const part = this.#part(withoutEnd(line));
        if (part) parts.push(part);
      }
      yield parts;
    }
    const signature = this.signature;
    const wrong = signature === undefined ? undefined : readSignature(signature, this.#signedHead);
    if (typeof wrong === 'string') throw this.#damaged(wrong);
    if (this.header.id === '') throw this.#damaged('its session has no id');
    this.#losses.end();
  }

  #part(line: Buffer): BundlePart | undefined {
    if (line.length === 0) return undefined;
    if (this.signature !== undefined) throw this.#damaged('nothing may follow the signature');
    if (startsWith(line, SIGNATURE)) {
      this.signature = line.toString('utf8');
      return undefined;
    }
    return startsWith(line, BLOB) ? this.#blob(line.toString('utf8')) : this.#event(line);
  }

  #blob(text: string): BundlePart {
    let content: { sha256?: unknown; base64?: unknown } | undefined;
    try {
      content = (JSON.parse(text) as { blob?: typeof content }).blob;
    } catch {
      throw this.#damaged('this blob is not whole: the file is cut off or damaged here');
    }
    if (typeof content?.base64 !== 'string' || typeof content.sha256 !== 'string')
      throw this.#damaged('this is no blob');
    const bytes = Buffer.from(content.base64, 'base64');
    if (hash('sha256', bytes) !== content.sha256) {
      throw this.#damaged(`blob ${content.sha256} has other content than its name says`);
    }
    this.#contents.add(content.sha256);
    return { kind: 'blob', sha256: content.sha256, bytes };
  }

  #event(line: Buffer): BundlePart {
    const { problem, head, whole } = this.#chain.check(line);
    if (problem && (problem.kind === 'lost' || problem.kind === 'gap'))
      this.#losses.meet({ ...problem, digest: hash('sha256', line) }, this.#line);
    else if (problem) throw this.#damaged(problem.message);
    const mark = lostRange(line);
    if (mark) return { kind: 'event', line, seq: mark.from, mark: true };
    if (!whole || !head) throw this.#damaged('this is no whole event');
    checkVersion(head.v, `event ${head.seq} of session ${head.session}`);
    if (head.type === 'session.opened') {
      const opened = decodeLine(line).event.data as unknown as SessionHeader;
      checkVersion(opened.v, `session ${opened.id}`);
      this.#header = opened;
    }
    this.#losses.lookAt(line);
    if (!refersOnlyTo(line, this.#contents)) {
      for (const { sha256 } of blobRefsIn(parseJson(line.toString('utf8')))) {
        if (!this.#contents.has(sha256) && !this.#has(sha256))
          this.#losses.meet(missingBlob(sha256), this.#line);
      }
    }
    return { kind: 'event', line, seq: head.seq };
  }

  #damaged(what: string, line = this.#line): ChassisError {
    const place = line === 0 ? 'the bundle is empty' : `line ${line} of the bundle`;
    // Something that does not even begin like a bundle is none.
    const begun = this.#contents.size > 0 || this.#chain.expected > 0;
    const fix = begun
      ? 'export it again from where it is whole'
      : 'a bundle is a file that chassis export wrote';
    return new ChassisError(begun ? 'DamagedRecord' : 'InvalidParams', `${place}: ${what}`, {
      data: { line, fix },
    });
  }
}

function startsWith(line: Buffer, text: Buffer): boolean {
  return line.length >= text.length && line.compare(text, 0, text.length, 0, text.length) === 0;
}

function withoutEnd(line: Buffer): Buffer {
  let end = line.length;
  if (line[end - 1] === NEWLINE) end--;
  if (line[end - 1] === RETURN) end--;
  return end === line.length ? line : line.subarray(0, end);
}
