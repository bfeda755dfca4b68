/**
 * What a reading of the whole joined log finds wrong: one judgement for views and for verification.
 *
 * Promise: a line that a living writer has not finished is no damage; how far the log once reached is asked before it is
 * read, so that what is written meanwhile is not taken for lost.
 */
import type { Chain } from '../chain.ts';
import type { Problem } from '../problem.ts';
import type { BlobFiles } from './blob-files.ts';
import type { IndexDb } from './index-db.ts';
import type { Layout } from './layout.ts';
import { isAlive } from './listing.ts';
import { missingEnd, type SessionPart } from './session-files.ts';

/** A line that is there, but cannot be read as what it was. */
const TAIL_KINDS = new Set(['torn', 'parse', 'hash']);

export class Damage {
  readonly problems: Problem[];
  readonly #id: string;
  readonly #layout: Layout;
  readonly #alive: boolean;
  readonly #reached: number;
  /** Lines behind the last whole one that are named already. */
  #tail = 0;
  readonly #blobsThere = new Set<string>();

  /** @param problems where they are put */
  constructor(id: string, layout: Layout, index: IndexDb, problems: Problem[] = []) {
    this.#id = id;
    this.#layout = layout;
    this.#alive = isAlive(layout.session(id));
    this.#reached = index.get(id)?.tallied.seq ?? -1;
    this.problems = problems;
  }

  line(part: SessionPart, problem: Problem | undefined): void {
    this.#tail = problem && TAIL_KINDS.has(problem.kind) ? this.#tail + 1 : 0;
    if (problem && !(problem.kind === 'torn' && this.#alive && part.id === this.#id))
      this.problems.push(problem);
  }

  /** Names a blob that is not there; each is looked for once. */
  demandBlob(sha256: string, seq: number, blobs: BlobFiles): void {
    if (this.#blobsThere.has(sha256)) return;
    if (blobs.has(sha256)) this.#blobsThere.add(sha256);
    else this.blob(sha256, 'blob-missing', `blob ${sha256} is missing`, seq);
  }

  /** A value that is missing or damaged; each is named once. */
  blob(sha256: string, kind: string, message: string, seq?: number): void {
    const file = this.#layout.blob(sha256);
    if (this.problems.some((known) => known.file === file)) return;
    this.problems.push({ kind, message, file, ...(seq === undefined ? {} : { seq }) });
  }

  /** A part was read to its end, or to `to`. */
  end(part: SessionPart, { expected }: Chain, to = Number.POSITIVE_INFINITY): void {
    if (part.id !== this.#id) {
      if (expected > Math.min(part.last, to)) return;
      const message = `the parent ${part.id} ends at event ${expected - 1}; the fork shares it up to ${part.last}`;
      this.problems.push({ kind: 'parent', message, seq: expected });
    } else if (expected <= Math.min(this.#reached, to)) {
      const lost = this.#reached + 1 - expected;
      if (lost > this.#tail) this.problems.push(missingEnd(part.layout, lost, expected));
    } else if (expected <= part.first && to >= part.first && !this.#alive) {
      const message = 'the log holds no event of this session';
      this.problems.push({ kind: 'empty', message, seq: expected });
    }
  }
}
