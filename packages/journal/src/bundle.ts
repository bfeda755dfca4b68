/**
 * Bundles: a whole session as one stream of text lines, the very lines of its log (a fork's parents' prefix included), each
 * blob in a line of its own before the first event that needs it.
 *
 * Promise: what is exported, imported and exported again is the same, byte for byte; nothing is taken in that the chain or a
 * content hash does not bear out.
 */
import type { KeyObject } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import { blobRefsIn, refersOnlyTo } from './blob-ref.ts';
import { BundleReader } from './bundle-reader.ts';
import { damagedRecord } from './damaged-record.ts';
import type { BlobRef, Event } from './event.ts';
import { parseJson } from './json.ts';
import { decodeLine } from './line.ts';
import { lineHead } from './line-head.ts';
import { lostRange } from './lost.ts';
import { missingBlob, OpenLosses } from './open-losses.ts';
import { isLoss, type Problem } from './problem.ts';
import { type BundleSignature, readSignature, signatureLine } from './signature.ts';
import type { BundleLines, Store, Verification } from './store.ts';

const BYTES = 'application/octet-stream';
const EFFECTS = Buffer.from('"effects":');
type Content = BlobRef['$blob'];

/**
 * A session as lines, without newlines. Streams: memory holds one batch of lines and one blob.
 * @param options `sign`: an Ed25519 key (`signingKey`) that the head is signed with, in one more line at the end
 * @throws ChassisError InvalidParams for an unknown session, DamagedRecord when events or a blob that is needed are missing and
 *   no repair has put that on record
 */
export async function* exportBundle(
  store: Store,
  id: string,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  for await (const lines of exportBatches(store, id, options))
    for (const line of lines) yield line.toString('utf8');
}

export interface ExportOptions {
  readonly sign?: KeyObject;
}

/** The same as bytes, many lines at once. */
export async function* exportBatches(
  store: Store,
  id: string,
  { sign }: ExportOptions = {},
): AsyncGenerator<readonly Buffer[]> {
  const losses = new OpenLosses((problem) =>
    damagedRecord(id, `session ${id} cannot be exported whole`, [problem]),
  );
  const blobs = new BlobLines(store, losses);
  let last: Buffer = Buffer.alloc(0);
  const damaged = (problem: Problem): void => {
    if (isLoss(problem)) losses.meet(problem);
  };
  for await (const lines of (await store.reader(id)).batches({ damaged })) {
    let ready: Buffer[] = [];
    for (const line of lines) {
      const needed = lostRange(line) === undefined ? blobs.neededBy(line) : [];
      if (needed.length > 0) {
        yield ready;
        ready = [];
        for (const content of needed) for await (const blob of blobs.of(content)) yield [blob];
      }
      losses.lookAt(line);
      ready.push(line);
      last = line;
    }
    yield ready;
  }
  losses.end();
  if (sign === undefined) return;
  const { seq, hash: head } = decodeLine(last).event;
  yield [Buffer.from(signatureLine({ session: id, seq, hash: head }, sign))];
}

interface Needed extends Content {
  /** A content that an event names by its hash alone may not have been kept. */
  readonly optional?: boolean;
}

/** The lines of blobs, each once, before the first line that refers to them. */
class BlobLines {
  readonly #store: Store;
  readonly #losses: OpenLosses;
  readonly #sent = new Set<string>();

  constructor(store: Store, losses: OpenLosses) {
    this.#store = store;
    this.#losses = losses;
  }

  neededBy(line: Buffer): Needed[] {
    const referred = refersOnlyTo(line, this.#sent) ? [] : blobRefsIn(parseJson(line.toString('utf8')));
    const bare = bareHashes(line).map((sha256) => ({ sha256, bytes: 0, media_type: BYTES, optional: true }));
    return [...referred, ...bare].filter(({ sha256 }) => !this.#sent.has(sha256));
  }

  async *of(content: Needed): AsyncGenerator<Buffer> {
    const { sha256, media_type } = content;
    if (this.#sent.has(sha256)) return;
    this.#sent.add(sha256);
    const bytes = await this.#read(content);
    if (bytes === undefined) return;
    if (media_type === 'application/json')
      for (const inner of blobRefsIn(parseJson(bytes.toString('utf8')))) yield* this.of(inner);
    const blob = { sha256, bytes: bytes.byteLength, media_type, base64: bytes.toString('base64') };
    yield Buffer.from(JSON.stringify({ blob }));
  }

  async #read({ sha256, optional }: Needed): Promise<Buffer | undefined> {
    try {
      const bytes = await this.#store.blob(sha256);
      if (bytes) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      const [problem] = (error as { data?: { problems?: Problem[] } }).data?.problems ?? [];
      if (problem === undefined) throw error;
      this.#losses.meet(problem);
      return undefined;
    }
    if (optional !== true) this.#losses.meet(missingBlob(sha256));
    return undefined;
  }
}

/** Contents that an event names by hash alone: files before and after a step, snapshots. They may not have been kept. */
function bareHashes(line: Buffer): string[] {
  const type = lineHead(line)?.type;
  if (type !== 'snapshot.taken' && (type !== 'step.finished' || !line.includes(EFFECTS))) return [];
  const event = decodeLine(line).event as Event;
  if (event.type === 'snapshot.taken') return [event.data.state];
  if (event.type !== 'step.finished' || !Array.isArray(event.data.effects)) return [];
  return event.data.effects.flatMap((effect) =>
    effect.kind === 'file' ? [effect.before, effect.after].filter((sha256) => sha256 !== null) : [],
  );
}

/**
 * Checks a bundle without taking it in. Stops at the first problem: what follows hangs on it.
 * @param key who must have signed it; without one a signature need only fit the bundle
 */
export async function verifyBundle(
  lines: AsyncIterable<BundleLines>,
  key?: KeyObject,
): Promise<Verification> {
  const reader = new BundleReader();
  const problems: Problem[] = [];
  let session = '';
  let events = 0;
  let signature: BundleSignature | undefined;
  try {
    for await (const parts of reader.parts(lines))
      for (const part of parts) if (part.kind === 'event' && part.mark !== true) events++;
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
  const { losses, head } = reader;
  return {
    ok: problems.length === 0,
    session,
    events,
    head_hash: head.hash,
    problems,
    ...(losses.length > 0 ? { losses } : {}),
    ...(signature ? { signature } : {}),
  };
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
