/**
 * Streamed text without secrets: a piece that may be the beginning of one waits until what follows shows that it is none.
 *
 * What this lets through is redacted where it is written; whole secrets are never cut into two pieces.
 */
import type { Secrets } from '@chassis/journal';
import type { ModelChunk } from '@chassis/types';

export class SafeStream {
  readonly #secrets: Pick<Secrets, 'safeLength'>;
  /** What waits, by step and part. */
  readonly #waiting = new Map<string, string>();

  constructor(secrets: Pick<Secrets, 'safeLength'>) {
    this.#secrets = secrets;
  }

  /** The part of a chunk that may be shown, together with what had waited; undefined when all of it waits. */
  pass(step: number, { text, reasoning, tool_call }: ModelChunk): ModelChunk | undefined {
    const safe = {
      ...this.#member('text', text, `${step} text`),
      ...this.#member('reasoning', reasoning, `${step} reasoning`),
      ...(tool_call === undefined
        ? {}
        : {
            tool_call: {
              ...tool_call,
              ...this.#member('arguments', tool_call.arguments, `${step} call ${tool_call.index}`),
            },
          }),
    };
    return Object.keys(safe).length === 0 ? undefined : safe;
  }

  /** What still waits of a step's text and reasoning, when nothing more comes. */
  rest(step: number): ModelChunk | undefined {
    const [text, reasoning] = ['text', 'reasoning'].map((part) => {
      const waiting = this.#waiting.get(`${step} ${part}`) ?? '';
      this.#waiting.delete(`${step} ${part}`);
      return waiting;
    });
    const rest = { ...(text ? { text } : {}), ...(reasoning ? { reasoning } : {}) };
    return Object.keys(rest).length === 0 ? undefined : rest;
  }

  #member<K extends string>(key: K, piece: string | undefined, place: string): { [P in K]?: string } {
    if (piece === undefined) return {};
    const all = (this.#waiting.get(place) ?? '') + piece;
    const length = this.#secrets.safeLength(all);
    this.#waiting.set(place, all.slice(length));
    const shown = all.slice(0, length);
    return (shown === '' && key !== 'arguments' ? {} : { [key]: shown }) as { [P in K]?: string };
  }
}
