/**
 * Bundles: a whole session as one stream of text lines, the very lines of its log (a fork's parents' prefix included), each
 * blob in a line of its own before the first event that needs it.
 *
 * Promise: what is exported, imported and exported again is the same, byte for byte; nothing is taken in that the chain or a
 * content hash does not bear out.
 */
import { hash, type KeyObject } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import { blobRefsIn, mayHoldRefs } from './blob-ref.ts';
import { Chain } from './chain.ts';
import { damagedRecord } from './damaged-record.ts';
import type { BlobRef, Event, SessionHeader } from './event.ts';
import { parseJson } from './json.ts';
import { decodeLine } from './line.ts';
import { isLoss, type Problem } from './problem.ts';
import {
  type BundleSignature,
  readSignature,
  SIGNATURE_START,
  type SignedHead,
  signatureLine,
} from './signature.ts';
import type { Store, Verification } from './store.ts';
import { checkVersion } from './upgrade.ts';

const BYTES = 'application/octet-stream';
type Content = BlobRef['$blob'];

/**
 * A session as lines, without newlines. Streams: memory holds one line and one blob.
 * @param options `sign`: an Ed25519 key (`signingKey`) that the head is signed with, in one more line at the end
 * @throws ChassisError InvalidParams for an unknown session, DamagedRecord when events or a blob that is needed are missing
 */
export async function* exportBundle(
  store: Store,
  id: string,
  options: { readonly sign?: KeyObject } = {},
): AsyncGenerator<string> {
  const sent = new Set<string>();
  const notWhole = (problem: Problem): ChassisError =>
    damagedRecord(id, `session ${id} cannot be exported whole`, [problem]);
  const blobLines = async function* (content: Content, needed: boolean): AsyncGenerator<string> {
    if (sent.has(content.sha256)) return;
    sent.add(content.sha256);
    const bytes = await store.blob(content.sha256).catch((error: unknown) => {
      const { data } = error as { data?: { problems?: Problem[] } };
      throw data?.problems?.[0] ? notWhole(data.problems[0]) : error;
    });
    if (!bytes) {
      if (!needed) return;
      throw notWhole({ kind: 'blob-missing', message: `blob ${content.sha256} is missing` });
    }
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (content.media_type === 'application/json') {
      for (const inner of blobRefsIn(parseJson(view.toString('utf8')))) yield* blobLines(inner, true);
    }
    const { sha256, media_type } = content;
    yield JSON.stringify({
      blob: { sha256, bytes: bytes.byteLength, media_type, base64: view.toString('base64') },
    });
  };
  let last = '';
  const damaged = (problem: Problem): void => {
    if (isLoss(problem)) throw notWhole(problem);
  };
  for await (const line of (await store.reader(id)).lines({ damaged })) {
    if (mayHoldRefs(line)) for (const content of blobRefsIn(parseJson(line))) yield* blobLines(content, true);
    for (const sha256 of bareHashes(line)) yield* blobLines({ sha256, bytes: 0, media_type: BYTES }, false);
    yield line;
    last = line;
  }
  if (options.sign) {
    const { seq, hash: head } = decodeLine(last).event;
    yield signatureLine({ session: id, seq, hash: head }, options.sign);
  }
}

/** Contents that an event names by hash alone: files before and after a step, snapshots. They may not have been kept. */
function bareHashes(line: string): string[] {
  if (!line.includes('"effects":') && !line.includes('"type":"snapshot.taken"')) return [];
  const event = decodeLine(line).event as Event;
  if (event.type === 'snapshot.taken') return [event.data.state];
  if (event.type !== 'step.finished' || !Array.isArray(event.data.effects)) return [];
  return event.data.effects.flatMap((effect) =>
    effect.kind === 'file' ? [effect.before, effect.after].filter((sha256) => sha256 !== null) : [],
  );
}

/** What a bundle consists of, each part checked. */
export type BundlePart =
  | { readonly kind: 'blob'; readonly sha256: string; readonly bytes: Buffer }
  | { readonly kind: 'event'; readonly line: Buffer; readonly seq: number };

/** Reads a bundle part by part; after the last one it knows whose it is. */
export class BundleReader {
  /** The last line of a signed bundle; what it is worth, `readSignature` says. */
  signature: string | undefined;
  readonly #chain = new Chain();
  readonly #contents = new Set<string>();
  readonly #has: (sha256: string) => boolean;
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

  async *parts(lines: AsyncIterable<string>): AsyncGenerator<BundlePart> {
    for await (const raw of lines) {
      this.#line++;
      const text = raw.replace(/\r?\n?$/, '');
      if (text === '') continue;
      if (this.signature !== undefined) throw this.#damaged('nothing may follow the signature');
      if (text.startsWith(SIGNATURE_START)) {
        this.signature = text;
        continue;
      }
      yield text.startsWith('{"blob":') ? this.#blob(text) : this.#event(text);
    }
    const wrong = this.signature === undefined ? undefined : readSignature(this.signature, this.#signedHead);
    if (typeof wrong === 'string') throw this.#damaged(wrong);
    if (this.header.id === '') throw this.#damaged('its session has no id');
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

  #event(text: string): BundlePart {
    const line = Buffer.from(text);
    const { problem, head, whole } = this.#chain.check(line);
    if (problem || !whole || !head) throw this.#damaged(problem?.message ?? 'this is no whole event');
    checkVersion(head.v, `event ${head.seq} of session ${head.session}`);
    if (head.type === 'session.opened') {
      const opened = decodeLine(text).event.data as unknown as SessionHeader;
      checkVersion(opened.v, `session ${opened.id}`);
      this.#header = opened;
    }
    if (mayHoldRefs(text)) {
      for (const { sha256 } of blobRefsIn(parseJson(text))) {
        if (!this.#contents.has(sha256) && !this.#has(sha256))
          throw this.#damaged(`blob ${sha256} is missing`);
      }
    }
    return { kind: 'event', line, seq: head.seq };
  }

  #damaged(what: string): ChassisError {
    const place = this.#line === 0 ? 'the bundle is empty' : `line ${this.#line} of the bundle`;
    // Something that does not even begin like a bundle is none.
    const begun = this.#contents.size > 0 || this.#chain.expected > 0;
    const fix = begun
      ? 'export it again from where it is whole'
      : 'a bundle is a file that chassis export wrote';
    return new ChassisError(begun ? 'DamagedRecord' : 'InvalidParams', `${place}: ${what}`, {
      data: { line: this.#line, fix },
    });
  }
}

/**
 * Checks a bundle without taking it in. Stops at the first problem: what follows hangs on it.
 * @param key who must have signed it; without one a signature need only fit the bundle
 */
export async function verifyBundle(lines: AsyncIterable<string>, key?: KeyObject): Promise<Verification> {
  const reader = new BundleReader();
  const problems: Problem[] = [];
  let session = '';
  let signature: BundleSignature | undefined;
  try {
    for await (const _ of reader.parts(lines));
    session = reader.header.id;
  } catch (error) {
    if (!(error instanceof ChassisError)) throw error;
    problems.push({ kind: 'bundle', message: error.message });
  }
  if (problems.length === 0) {
    const head = { session, ...reader.head };
    const found =
      reader.signature === undefined ? key && 'it is not signed' : readSignature(reader.signature, head, key);
    if (typeof found === 'string') problems.push({ kind: 'signature', message: found });
    else signature = found;
  }
  const { seq, hash: headHash } = reader.head;
  const verification = { ok: problems.length === 0, session, events: seq + 1, head_hash: headHash, problems };
  return signature ? { ...verification, signature } : verification;
}

/** Whether a session that is there is the one a bundle brings. Throws Conflict when it is another one. */
export function sameOrConflict(
  id: string,
  there: { seq: number; hash: string },
  brought: { seq: number; hash: string },
): void {
  if (there.seq === brought.seq && there.hash === brought.hash) return;
  throw new ChassisError(
    'Conflict',
    `there is another session ${id} already: it has ${there.seq + 1} events, the bundle ${brought.seq + 1}`,
    { data: { session: id } },
  );
}
