/**
 * Reads a script.
 *
 * Promise: everything that can be wrong with a script without a conversation is found here, all at once, each
 * problem with file, line and column and with what was expected.
 */
import {
  checkDocument,
  compileSchema,
  type Issue,
  invalid,
  parseDocument,
  readDocument,
  type SourceDocument,
  withPlace,
} from '@chassis/schema';
import type { FinishReason, Json, Usage } from '@chassis/types';
import { RE2JS } from 're2js';
import { SCRIPT_SCHEMA } from './schema.ts';
import { compileText, compileValue, type Template, type TemplateError } from './template.ts';

export interface Condition {
  readonly contains?: string;
  readonly matches?: RE2JS;
  readonly tool?: string;
  readonly result_path?: string;
  readonly equals?: Json;
  readonly turn?: number;
}

export interface ScriptedError {
  readonly status?: number;
  readonly message: string;
  readonly times?: number;
  readonly retry_after_ms?: number;
}

export interface ScriptedCall {
  readonly name: string;
  readonly id?: string;
  /** Gives the text of the arguments. */
  readonly arguments: Template<string>;
}

export interface Turn {
  /** `file:line:column`, for messages. */
  readonly at: string;
  readonly when: Condition;
  readonly say: Template<string> | undefined;
  readonly think: Template<string> | undefined;
  readonly call: readonly ScriptedCall[];
  readonly repeat: boolean;
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
  readonly delayMs: number;
  /** Characters per streamed piece. */
  readonly chunk: number;
  readonly error: ScriptedError | undefined;
}

export interface Script {
  readonly file: string;
  /** `file:line:column` of its turns. */
  readonly at: string;
  readonly turns: readonly Turn[];
}

/** A turn as it is written, after the schema check. */
interface Written {
  readonly when?: Omit<Condition, 'matches'> & { readonly matches?: string };
  readonly say?: string;
  readonly think?: string;
  readonly call?: readonly { name: string; id?: string; arguments?: Json }[];
  readonly repeat?: boolean;
  readonly finish?: FinishReason;
  readonly usage?: Partial<Usage> & Pick<Usage, 'input' | 'output'>;
  readonly delay_ms?: number;
  readonly chunk?: number;
  readonly error?: ScriptedError;
}

const check = compileSchema(SCRIPT_SCHEMA);
const DEFAULT_CHUNK = 16;

/** @throws InvalidParams with every problem and its place */
export async function readScript(file: string): Promise<Script> {
  return scriptOf(await readDocument(file));
}

/** @throws InvalidParams with every problem and its place */
export function parseScript(text: string, file: string): Script {
  return scriptOf(parseDocument(text, file));
}

function scriptOf(document: SourceDocument): Script {
  const shape = checkDocument(document, check);
  if (shape.length > 0) throw invalid(shape);
  const issues: Issue[] = [];
  const { turns } = document.value as { turns: readonly Written[] };
  const read = turns.map((turn, i) =>
    turnOf(turn, `/turns/${i}`, document, (path, message) => {
      issues.push(withPlace(document, { path, message }));
    }),
  );
  if (issues.length > 0) throw invalid(issues);
  return { file: document.file, at: placeText(document, '/turns'), turns: read };
}

function placeText(document: SourceDocument, pointer: string): string {
  const { line, column } = document.place(pointer, 'key') ?? { line: 1, column: 1 };
  return `${document.file}:${line}:${column}`;
}

type Complain = (path: string, message: string) => void;

function turnOf(turn: Written, at: string, document: SourceDocument, complain: Complain): Turn {
  if (turn.say === undefined && turn.call === undefined && turn.error === undefined) {
    complain(at, 'this turn does nothing; expected say, call or error');
  }
  const text = (source: string | undefined, path: string): Template<string> | undefined => {
    if (source === undefined) return undefined;
    try {
      return compileText(source);
    } catch (error) {
      complain(path, (error as TemplateError).message);
      return undefined;
    }
  };
  const { matches, ...when } = turn.when ?? {};
  const pattern = matches === undefined ? undefined : regex(matches, `${at}/when/matches`, complain);
  return {
    at: placeText(document, at),
    when: { ...when, ...(pattern === undefined ? {} : { matches: pattern }) },
    say: text(turn.say, `${at}/say`),
    think: text(turn.think, `${at}/think`),
    call: (turn.call ?? []).map((call, i) => callOf(call, `${at}/call/${i}`, complain)),
    repeat: turn.repeat ?? false,
    finish: turn.finish,
    usage: turn.usage === undefined ? undefined : { cached: 0, reasoning: 0, ...turn.usage },
    delayMs: turn.delay_ms ?? 0,
    chunk: turn.chunk ?? DEFAULT_CHUNK,
    error: turn.error,
  };
}

function callOf(
  call: { readonly name: string; readonly id?: string; readonly arguments?: Json },
  at: string,
  complain: Complain,
): ScriptedCall {
  const given = call.arguments ?? {};
  const value = compileValue(given, `${at}/arguments`, (path, error) => complain(path, error.message));
  return {
    name: call.name,
    ...(call.id === undefined ? {} : { id: call.id }),
    // Arguments written as a text are the text itself: that is how a script plays a malformed call.
    arguments: async (facts) => {
      const result = await value(facts);
      return typeof given === 'string' && typeof result === 'string' ? result : JSON.stringify(result);
    },
  };
}

function regex(source: string, at: string, complain: Complain): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    complain(at, `no valid regular expression (RE2 syntax): ${(error as Error).message}`);
    return undefined;
  }
}
