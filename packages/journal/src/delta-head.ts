/** What a logged request says about the messages it begins with, known without parsing it again. */
import type { Json } from '@chassis/types';
import { isBlobRef, type Resolve } from './blob-ref.ts';
import type { Large, Lazy } from './lazy.ts';

export interface DeltaHead {
  /** The request whose messages it begins with. */
  readonly from: number | null;
  /** How many of them. */
  readonly keep: number;
}

/**
 * @param data of the start of a model step
 * @param large what was left out of the data
 */
export function deltaHead(
  data: { readonly input?: unknown },
  resolve: Resolve | undefined,
  large: Large | undefined,
): DeltaHead | undefined {
  const begins = large && beginningOf(large.value);
  if (begins !== undefined) return begins;
  const input = large?.value.make() ?? (data.input as Json);
  return headIn(resolve && isBlobRef(input) ? resolve(input) : input);
}

const BEGINNING = /^\{"messages":\{"from":(null|\d{1,15}),"keep":(\d{1,15}),"add":\[/;

/** The same of an input that is kept as text, where that begins as our writers' texts do: it need not be parsed then. */
export function beginningOf(input: Lazy): DeltaHead | undefined {
  const match = BEGINNING.exec(input.beginning());
  return match === null
    ? undefined
    : { from: match[1] === 'null' ? null : Number(match[1]), keep: Number(match[2]) };
}

/** @param input as it is logged, references in it resolved */
export function headIn(input: Json | undefined): DeltaHead | undefined {
  const { from, keep } = ((input as { messages?: object } | null | undefined)?.messages ?? {}) as {
    [key: string]: unknown;
  };
  if ((from !== null && typeof from !== 'number') || typeof keep !== 'number') return undefined;
  return { from, keep };
}
