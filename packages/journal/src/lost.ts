/**
 * Losses that are on record. Where a repair could not bring lines back, one line stands in their place that says so; the
 * `session.repaired` event names its exact bytes.
 *
 * Promise: what a repair has put on record is known from then on, and nothing else: a changed mark is damage again.
 */
import type { Json } from '@chassis/types';
import type { Losses } from './event.ts';
import { GENESIS, storedHash } from './line.ts';
import type { Problem } from './problem.ts';

export interface LostRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The line in place of lost ones.
 * @param hash the hash that the line after it follows, if it is known
 */
export function lostMark(
  range: LostRange & { readonly bytes: number; readonly quarantine: string },
  hash: string | undefined,
): Buffer {
  const { from, to, bytes, quarantine } = range;
  const said = JSON.stringify({ from, to, bytes, quarantine });
  return Buffer.from(`{"lost":${said},"hash":"${hash ?? GENESIS}"}`);
}

const MARK = /^\{"lost":\{"from":(\d{1,15}),"to":(\d{1,15}),/;

/** What a mark says, or undefined for any other line. */
export function lostRange(line: Buffer): LostRange | undefined {
  const match = MARK.exec(line.toString('latin1', 0, 80));
  if (!match || storedHash(line) === undefined) return undefined;
  return { from: Number(match[1]), to: Number(match[2]) };
}

export function lostText({ from, to }: LostRange): string {
  return from === to ? `event ${from} is lost` : `events ${from} to ${to} are lost`;
}

/** The losses that `session.repaired` events have put on record. */
export class KnownLosses {
  readonly #events = new Set<string>();
  readonly #blobs = new Set<string>();

  /** @param data of a `session.repaired` event */
  add(data: Json | object | undefined): void {
    const { lost } = (data ?? {}) as { lost?: Partial<Losses> };
    if (typeof lost !== 'object' || lost === null) return;
    for (const { from, digest } of lost.events ?? []) this.#events.add(`${from} ${digest}`);
    for (const sha256 of lost.blobs ?? []) this.#blobs.add(sha256);
  }

  knows({ kind, seq, digest, file }: Problem): boolean {
    if (kind === 'lost' || kind === 'gap') return this.#events.has(`${seq} ${digest}`);
    return kind.startsWith('blob-') && this.#blobs.has(blobName(file));
  }
}

/** The content hash that a blob's file is named by. */
export function blobName(file: string | undefined): string {
  return /([0-9a-f]{64})\.zst$/.exec(file ?? '')?.[1] ?? '';
}
