/**
 * What a recorded session is expected to be: a YAML file that a person can read and review, beside the bundle.
 *
 * Promise: a mistake in the file is an error with its line and column; nothing in it is guessed.
 */
import { expectDocument, parseDocument, type SourceDocument } from '@chassis/schema';
import { checkSpec } from './own-checks.ts';

export type Normaliser = 'paths' | 'durations' | 'ids';

export interface Expectations {
  readonly outcome?: 'ok' | 'failed' | 'cancelled';
  readonly tools?: {
    /** Each of them is called. */
    readonly includes?: readonly string[];
    /** None of them is called. */
    readonly forbids?: readonly string[];
    /** They are called in this order, others between them allowed. */
    readonly order?: readonly string[];
    readonly max_calls?: number;
  };
  /** Path in the workspace → SHA-256 of its content at the end, or null when it was deleted. */
  readonly files?: { readonly [path: string]: string | null };
  readonly final?: { readonly equals?: string; readonly contains?: readonly string[] };
  /** Upper bounds. */
  readonly cost?: { readonly usd?: number; readonly tokens?: number; readonly steps?: number };
  /** Rules of `chassis why` that must not fire. */
  readonly never?: readonly string[];
}

export interface Spec {
  readonly name: string;
  /** The bundle, relative to this file. */
  readonly recording: string;
  /** What the user says, turn by turn: for recording it anew. */
  readonly input: readonly string[];
  readonly normalise: readonly Normaliser[];
  readonly expect: Expectations;
}

/** @throws InvalidParams with file, line and column of every mistake */
export function parseSpec(text: string, file: string): Spec {
  const document: SourceDocument = parseDocument(text, file);
  expectDocument(document, checkSpec);
  const given = document.value as Partial<Spec> & Pick<Spec, 'name' | 'recording' | 'expect'>;
  return { input: [], normalise: [], ...given };
}

export async function formatSpec(spec: Spec): Promise<string> {
  // Whoever only runs tests writes none.
  const { stringify } = await import('yaml');
  return stringify(spec, { lineWidth: 100 });
}
