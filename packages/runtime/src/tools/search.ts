/**
 * `tool_search`: how a model finds tools that are too many to be shown to it all at once.
 *
 * Promise: the ranking depends on the question and the tools alone, so that the same question finds the same tools; what a
 * search answered is on record like the result of any tool.
 */
import { ChassisError } from '@chassis/errors';
import { failure, success } from '@chassis/sdk';
import type { JsonObject, Result, ToolDefinition, ToolSpec } from '@chassis/types';
import type { Invocation, ToolBinding } from '../capability.ts';
import { TOOL_SEARCH } from '../plugin/names.ts';
import { plainSpec } from './dialects.ts';

export const toolSearch: ToolDefinition = {
  name: TOOL_SEARCH,
  description:
    'Finds tools that are not listed here by what they do. Tools that it answers can be called at once.',
  input: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description: 'what the tool is to do, or its name',
      },
      limit: { type: 'integer', minimum: 1, maximum: 20, description: 'most tools to answer; 5' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    required: ['tools', 'others'],
    properties: {
      tools: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'description', 'parameters'],
          properties: {
            name: { type: 'string' },
            description: { type: 'string' },
            parameters: { type: 'object' },
          },
        },
      },
      others: { type: 'integer', description: 'how many more fit' },
    },
  },
  effects: 'none',
  idempotent: true,
  approval: 'auto',
  timeout_ms: 10_000,
};

/** @param tools all that may be found, whenever it is asked */
export async function answerSearch(
  { payload, ctx }: Invocation,
  tools: () => readonly ToolBinding[],
): Promise<Result> {
  if (!('tool' in payload) || payload.tool !== TOOL_SEARCH)
    return failure(new ChassisError('MethodNotFound', 'there is no such tool'), ctx.trace_id);
  const { query, limit = 5 } = payload.input as { query: string; limit?: number };
  const found = rank(query, tools().map(specOf));
  return success({ tools: found.slice(0, limit), others: Math.max(0, found.length - limit) }, ctx.trace_id);
}

/** Tools as a model is shown them. */
export function specOf({ name, definition }: ToolBinding): ToolSpec {
  return plainSpec({ name, description: definition.description, parameters: definition.input });
}

/** The tools that have something of the query, the best first: rare words count more, a word of the name most. */
export function rank(query: string, specs: readonly ToolSpec[]): readonly ToolSpec[] {
  const asked = [...new Set(wordsOf(query))];
  const texts = specs.map((spec) => ({
    spec,
    name: new Set(wordsOf(spec.name)),
    text: new Set(wordsOf(`${spec.description} ${Object.keys(propertiesOf(spec)).join(' ')}`)),
  }));
  const weights = asked.map((word) => {
    const having = texts.filter(({ name, text }) => fit(name, word) + fit(text, word) > 0).length;
    return Math.log(1 + texts.length / (1 + having));
  });
  return texts
    .map(({ spec, name, text }) => ({
      spec,
      score: asked.reduce(
        (sum, word, i) => sum + (weights[i] ?? 0) * Math.max(3 * fit(name, word), fit(text, word)),
        query === spec.name ? 1_000 : 0,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.spec.name < b.spec.name ? -1 : 1))
    .map(({ spec }) => spec);
}

/** 1 for the word itself, less for one that begins alike, from four letters on: `issue` also finds `issues`. */
function fit(words: ReadonlySet<string>, word: string): number {
  if (words.has(word)) return 1;
  if (word.length < 4) return 0;
  for (const one of words) if (one.startsWith(word) || (one.length >= 4 && word.startsWith(one))) return 0.6;
  return 0;
}

/** `createIssue`, `create_issue` and "create issue" are the same words; each Han, kana or Hangul sign is one. */
function wordsOf(text: string): string[] {
  const parts = text.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return (
    parts.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|\p{N}+/gu,
    ) ?? []
  );
}

function propertiesOf({ parameters }: ToolSpec): JsonObject {
  const { properties } = parameters;
  return typeof properties === 'object' && properties !== null ? (properties as JsonObject) : {};
}
