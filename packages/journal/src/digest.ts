/**
 * Digests: what a re-execution is compared by.
 *
 * Promise: equal values have equal digests whatever the order of their members; number literals count as written; known
 * secrets count as the name they are recorded under, so a run and its replay from the redacted record agree.
 */
import { hash } from 'node:crypto';
import type { Json, JsonObject, Message, ToolSpec } from '@chassis/types';
import { isExactNumber, stringifyJson } from './json.ts';
import type { Secrets } from './secrets.ts';

/** JSON text with the members of every object sorted by UTF-16 code units and no white space. */
export function canonicalJson(value: Json): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (Object.is(value, -0)) return '-0';
      if (Number.isFinite(value)) return String(value);
      break;
    case 'boolean':
      return String(value);
    case 'object': {
      if (value === null) return 'null';
      if (isExactNumber(value)) return value.rawJSON;
      let text = '';
      if (Array.isArray(value)) {
        for (const item of value as readonly Json[])
          text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
        return `[${text}]`;
      }
      const object = value as JsonObject;
      const keys = sortedKeys(object);
      const whole = atOnce(object, keys);
      if (whole !== undefined) return whole;
      for (const key of keys) {
        const member = object[key] as Json;
        // Most members are strings: without a call of its own each.
        text += `${text === '' ? '' : ','}${quoted(key)}:${typeof member === 'string' ? JSON.stringify(member) : canonicalJson(member)}`;
      }
      return `{${text}}`;
    }
    default:
      break;
  }
  // No JSON: this throws and says where.
  return stringifyJson(value);
}

/** Nearly every object has few members: sorting by hand leaves nothing behind for the garbage collector. */
function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length > 12) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string;
    let at = i;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

/** A text this long is written once, not put together from pieces and copied. */
const LONG_TEXT = 256;

/** The text of an object of plain members with a long text among them, such as the message of a tool. */
function atOnce(object: JsonObject, keys: readonly string[]): string | undefined {
  let long = false;
  for (const key of keys) {
    const member = object[key];
    if (typeof member === 'string') long ||= member.length >= LONG_TEXT;
    else if (typeof member !== 'boolean') return undefined;
    // Members named by numbers stand in an order of their own.
    if (key.charCodeAt(0) < 65 || key === '__proto__') return undefined;
  }
  if (!long) return undefined;
  const sorted: { [key: string]: Json } = {};
  for (const key of keys) sorted[key] = object[key] as Json;
  return JSON.stringify(sorted);
}

/** Names of members come again and again; a record with very many of them does not fill the memory. */
const quotes = new Map<string, string>();
const MOST_QUOTES = 2000;

function quoted(key: string): string {
  let text = quotes.get(key);
  if (text === undefined) {
    text = JSON.stringify(key);
    if (quotes.size < MOST_QUOTES) quotes.set(key, text);
  }
  return text;
}

/**
 * SHA-256 (64 hex digits) of a value's canonical JSON.
 * @param secrets when given, the value is redacted first, as it would be in the log
 */
export function digestOf(value: Json, secrets?: Secrets): string {
  const text = canonicalJson(value);
  // Nearly every value holds no secret, and its text is there already: only a suspect is worth the walk.
  return hash('sha256', secrets?.suspects(text) ? canonicalJson(secrets.redact(value)) : text);
}

export interface Request {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
}

/** A conversation as it grows: the hash after each message covers all messages before it. */
interface Sequence {
  readonly secrets: Secrets | undefined;
  readonly revision: number;
  readonly messages: Message[];
  readonly hashes: string[];
}

// Only a memory of work done: nothing here changes an answer.
const sequences = new WeakMap<Message, Sequence>();
const catalogues = new WeakMap<object, { digest: string; secrets: Secrets | undefined; revision: number }>();
const START = '0'.repeat(64);

/**
 * The digest of a model request. It covers messages (as a chain, each hashed once however often the conversation is sent
 * again), tools and parameters. Messages and tools are frozen, so that what was digested cannot change afterwards.
 */
export function digestOfRequest(request: Request, secrets?: Secrets): string {
  const messages = digestOfMessages(request.messages, secrets);
  const tools = digestOfTools(request.tools, secrets);
  const params = digestOfParams(request.params, secrets);
  return hash('sha256', `{"messages":"${messages}","params":"${params}","tools":"${tools}"}`);
}

function digestOfMessages(messages: readonly Message[], secrets: Secrets | undefined): string {
  const revision = secrets?.revision ?? 0;
  const known = longestKnown(messages, secrets, revision);
  let sequence = known.sequence;
  if (sequence === undefined || known.length < sequence.messages.length) {
    sequence = {
      secrets,
      revision,
      messages: messages.slice(0, known.length),
      hashes: sequence?.hashes.slice(0, known.length) ?? [],
    };
  }
  let previous = sequence.hashes.at(-1) ?? START;
  for (let i = known.length; i < messages.length; i++) {
    const message = freezeDeep(messages[i] as Message);
    previous = hash('sha256', previous + digestOf(message as unknown as Json, secrets));
    sequence.messages.push(message);
    sequence.hashes.push(previous);
    sequences.set(message, sequence);
  }
  return previous;
}

/** The longest leading part that was digested before; found from the end, where a conversation grows. */
function longestKnown(
  messages: readonly Message[],
  secrets: Secrets | undefined,
  revision: number,
): { sequence: Sequence | undefined; length: number } {
  for (let i = messages.length - 1; i >= 0 && i >= messages.length - 64; i--) {
    const sequence = sequences.get(messages[i] as Message);
    if (sequence === undefined || sequence.secrets !== secrets || sequence.revision !== revision) continue;
    let length = 0;
    while (length <= i && sequence.messages[length] === messages[length]) length++;
    if (length > 0) return { sequence, length };
  }
  return { sequence: undefined, length: 0 };
}

/** The parameters of the latest request: those of the next are nearly always the same. */
let latest = { text: '', digest: '' };

function digestOfParams(params: JsonObject, secrets: Secrets | undefined): string {
  const text = canonicalJson(params);
  if (secrets?.suspects(text)) return digestOf(params, secrets);
  if (text !== latest.text) latest = { text, digest: hash('sha256', text) };
  return latest.digest;
}

function digestOfTools(tools: readonly ToolSpec[], secrets: Secrets | undefined): string {
  const known = catalogues.get(tools);
  const revision = secrets?.revision ?? 0;
  if (known && known.secrets === secrets && known.revision === revision) return known.digest;
  const digest = digestOf(tools as unknown as Json, secrets);
  catalogues.set(freezeDeep(tools), { digest, secrets, revision });
  return digest;
}

/** Freezes a value and everything in it. */
function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeDeep(member);
  return value;
}
