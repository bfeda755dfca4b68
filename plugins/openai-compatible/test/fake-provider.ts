/**
 * A provider for tests: a local server that speaks chat completions and plays what it is told to.
 *
 * It is strict where providers are: a request whose history no strict server would take is answered 400, so a
 * test that goes on after such a request fails. Every request is kept, also a refused one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FakeRequest {
  /** The parsed body. */
  readonly body: {
    readonly model: string;
    readonly messages: readonly WireMessage[];
    readonly [key: string]: unknown;
  };
  /** The body byte for byte. */
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  /** Why it was answered 400 (or 401), if it was. */
  readonly refused?: string;
}

export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    id: string;
    type: string;
    function: { name: string; arguments: string };
  }[];
}

/** One assistant turn, to be played as a stream. */
export interface FakeTurn {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
  /** As the provider reports it; null for none. */
  readonly usage?: object | null;
  /** Characters per piece of text; 5 unless given. */
  readonly piece?: number;
}

export type FakeAnswer =
  | {
      /** A stream: its text as it is on the wire, or a turn to write one from. */
      readonly stream: string | Uint8Array | FakeTurn;
      /** Cuts the stream into writes of so many bytes. */
      readonly bytes?: number;
      /** Waits between writes. */
      readonly delay_ms?: number;
      /** Writes keep-alive comments before the stream. */
      readonly comments?: number;
      /** `reset` breaks the connection after the stream, `hang` leaves it open; else it ends. */
      readonly ending?: 'end' | 'reset' | 'hang';
      readonly headers?: { readonly [name: string]: string };
    }
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: { readonly [name: string]: string };
    }
  | { readonly drop: true };

export interface FakeProvider {
  /** Base URL for the configuration, without a slash at the end. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Appends answers; each request that is not refused takes one. */
  play(...answers: (FakeAnswer | ((request: FakeRequest) => FakeAnswer))[]): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface FakeProviderOptions {
  /** When set, requests must carry it as bearer token. */
  readonly key?: string;
}

export async function startFakeProvider(options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const requests: FakeRequest[] = [];
  const answers: (FakeAnswer | ((request: FakeRequest) => FakeAnswer))[] = [];
  const stopping = new AbortController();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const body = parsed(text) as FakeRequest['body'];
    const unauthorized =
      options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`
        ? 'wrong key'
        : undefined;
    const problem =
      unauthorized ??
      (request.method === 'POST' && request.url?.endsWith('/chat/completions') === true
        ? historyProblem(body)
        : `there is no ${request.method} ${request.url}`);
    const kept = {
      body,
      text,
      headers: request.headers,
      ...(problem === undefined ? {} : { refused: problem }),
    };
    requests.push(kept);
    if (problem !== undefined) {
      const status = unauthorized === undefined ? 400 : 401;
      return json(response, status, { error: { message: problem, type: 'invalid_request_error' } });
    }
    const next = answers.shift() ?? { status: 500, body: { error: { message: 'no more answers to play' } } };
    await play(response, typeof next === 'function' ? next(kept) : next, body.model, stopping.signal);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const close = async (): Promise<void> => {
    stopping.abort();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play: (...more) => {
      answers.push(...more);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The stream of a turn, as DeepSeek would write it. */
export function sse(turn: FakeTurn, model = 'fake-model'): string {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    event({
      id: 'c1',
      object: 'chat.completion.chunk',
      model,
      choices: [{ index: 0, delta, finish_reason }],
    });
  const event = (payload: object): string => `data: ${JSON.stringify(payload)}\n\n`;
  const pieces = (text = ''): string[] =>
    text.match(new RegExp(`[\\s\\S]{1,${turn.piece ?? 5}}`, 'gu')) ?? [];
  const calls = turn.calls ?? [];
  const usage =
    turn.usage === undefined ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : turn.usage;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(turn.reasoning).map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(turn.text).map((content) => chunk({ content })),
    ...calls.flatMap((call, index) => [
      chunk({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
      ...pieces(call.arguments).map((text) =>
        chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(usage === null
      ? []
      : [event({ id: 'c1', object: 'chat.completion.chunk', model, choices: [], usage })]),
    'data: [DONE]\n\n',
  ].join('');
}

/** Why a strict server refuses the request, if it does. */
export function historyProblem(body: unknown): string | undefined {
  const { model, messages, tools } = (body ?? {}) as { model?: unknown; messages?: unknown; tools?: unknown };
  if (typeof model !== 'string' || model === '') return 'model is missing';
  if (!Array.isArray(messages) || messages.length === 0) return 'messages is missing';
  if (tools !== undefined && !(Array.isArray(tools) && tools.length > 0)) return 'tools is empty';
  let open: string[] = [];
  for (const [i, message] of (messages as WireMessage[]).entries()) {
    const at = `messages[${i}]`;
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      if (typeof message.content !== 'string') return `${at}.content is no text`;
      if (!open.includes(id)) return `${at} answers ${JSON.stringify(id)}, which is not an open tool call`;
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) return `${at}: tool calls without a result before it: ${open.join(', ')}`;
    if (!['system', 'user', 'assistant'].includes(message.role)) return `${at}.role is ${message.role}`;
    if (
      typeof message.content !== 'string' &&
      !(message.content === null && message.tool_calls !== undefined)
    ) {
      return `${at}.content is no text`;
    }
    if (message.tool_calls === undefined) continue;
    if (message.role !== 'assistant') return `${at}: only an assistant calls tools`;
    if (message.tool_calls.length === 0) return `${at}.tool_calls is empty`;
    for (const call of message.tool_calls) {
      if (!call.id || open.includes(call.id))
        return `${at}: the call id ${JSON.stringify(call.id)} is missing or repeated`;
      if (call.type !== 'function') return `${at}: type of ${call.id} is not "function"`;
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(call.function.name))
        return `${at}: the name of ${call.id} is not valid`;
      const value = parsed(call.function.arguments);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return `${at}: arguments of ${call.id} are not the text of a JSON object`;
      }
      open.push(call.id);
    }
  }
  return open.length > 0 ? `tool calls without a result: ${open.join(', ')}` : undefined;
}

async function play(
  response: ServerResponse,
  answer: FakeAnswer,
  model: string,
  stop: AbortSignal,
): Promise<void> {
  if ('drop' in answer) {
    response.destroy();
    return;
  }
  if ('status' in answer) return json(response, answer.status, answer.body, answer.headers);
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
  const { stream } = answer;
  const text = typeof stream === 'string' || stream instanceof Uint8Array ? stream : sse(stream, model);
  const all = Buffer.concat([
    Buffer.from(': keep-alive\n\n'.repeat(answer.comments ?? 0)),
    Buffer.from(text as string),
  ]);
  const step = answer.bytes ?? Math.max(all.length, 1);
  for (let at = 0; at < all.length; at += step) {
    await new Promise<void>((resolve) => response.write(all.subarray(at, at + step), () => resolve()));
    if (answer.delay_ms !== undefined) await sleep(answer.delay_ms, undefined, { signal: stop });
    // A turn of the event loop each, so that writes reach the other side as pieces.
    else if (answer.bytes !== undefined) await sleep(0);
  }
  if (answer.ending === 'reset') response.socket?.resetAndDestroy();
  else if (answer.ending !== 'hang') response.end();
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: { readonly [name: string]: string } = {},
): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
