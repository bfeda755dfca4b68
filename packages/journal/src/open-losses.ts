/** Losses that are met while a log streams by, until a later `session.repaired` event says that they are on record. */
import { decodeLine } from './line.ts';
import { lineHead } from './line-head.ts';
import { KnownLosses } from './lost.ts';
import type { Problem } from './problem.ts';

export class OpenLosses {
  readonly #error: (problem: Problem, line: number | undefined) => Error;
  readonly #met: { readonly problem: Problem; readonly line: number | undefined }[] = [];
  readonly #known = new KnownLosses();

  /** @param error what is thrown for one that is on no record */
  constructor(error: (problem: Problem, line: number | undefined) => Error) {
    this.#error = error;
  }

  get known(): readonly Problem[] {
    return this.#met.map(({ problem }) => problem).filter((one) => this.#known.knows(one));
  }

  /** @throws at once for damage that no repair leaves behind */
  meet(problem: Problem, line?: number): void {
    if (!['lost', 'gap', 'blob-missing', 'blob-damaged'].includes(problem.kind))
      throw this.#error(problem, line);
    this.#met.push({ problem, line });
  }

  /** Takes note of a line that may put losses on record. */
  lookAt(line: Buffer): void {
    if (lineHead(line)?.type === 'session.repaired') this.#known.add(decodeLine(line).event.data);
  }

  /** @throws for the first that is on no record */
  end(): void {
    const open = this.#met.find(({ problem }) => !this.#known.knows(problem));
    if (open) throw this.#error(open.problem, open.line);
  }
}

export function missingBlob(sha256: string): Problem {
  return { kind: 'blob-missing', message: `blob ${sha256} is missing`, file: `${sha256}.zst` };
}
