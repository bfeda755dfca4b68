/**
 * What happens to an HTTP request on the serving side.
 *
 * Promise: a POST is answered with exactly what its message is answered with, or with 202 and no body if with
 * nothing. Only JSON is accepted, and nothing from a browser's page unless its origin is listed, so that no web page
 * can use a server on the visitor's machine.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asWireError, ErrorCode, type WireError } from '../errors.ts';
import { errorText } from '../message.ts';
import type { Peer } from '../peer.ts';
import type { Transport } from '../transport.ts';
import { lastEventHeader, sessionHeader } from './http-client.ts';
import { HttpReply } from './http-reply.ts';
import { HttpSession } from './http-session.ts';

export interface HttpHandlerOptions {
  /**
   * Looks at every request first; throw an `RpcError` to refuse it: Unauthorized (−32012) becomes 401,
   * anything else 403.
   */
  readonly authorize?: ((request: IncomingMessage) => void | Promise<void>) | undefined;
  /** Origins of web pages that may send requests, such as `https://app.example.com`; default: none. */
  readonly origins?: readonly string[] | undefined;
  /** Longest body in bytes; default 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** How long a session without event stream and without requests is kept, in milliseconds; default 60,000. */
  readonly idleMs?: number | undefined;
  /** How often something is written to a client that waits, in milliseconds; default 15,000. */
  readonly heartbeatMs?: number | undefined;
}

export interface HttpHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Ends all sessions. */
  close(): Promise<void>;
}

interface Session {
  readonly transport: HttpSession;
  readonly peer: Peer;
  idle: NodeJS.Timeout | undefined;
}

const maxSessions = 10_000;

/** See `httpHandler`. */
export function httpService(
  accept: (transport: Transport, request: IncomingMessage) => Peer,
  options: HttpHandlerOptions = {},
): HttpHandler {
  const {
    authorize,
    origins = [],
    maxMessageBytes = 64 << 20,
    idleMs = 60_000,
    heartbeatMs = 15_000,
  } = options;
  const sessions = new Map<string, Session>();

  function sessionOf(request: IncomingMessage, make: boolean): Session | undefined {
    const id = request.headers[sessionHeader];
    if (typeof id !== 'string' || id.length < 20 || id.length > 200) return undefined;
    let session = sessions.get(id);
    if (!session) {
      if (!make) return undefined;
      if (sessions.size >= maxSessions) throw new Refusal(503, ErrorCode.Unavailable, 'too many sessions');
      const transport = new HttpSession(true, heartbeatMs);
      session = { transport, peer: accept(transport, request), idle: undefined };
      sessions.set(id, session);
      void session.peer.closed.then(() => sessions.delete(id));
    }
    clearTimeout(session.idle);
    return session;
  }

  function rest(session: Session): void {
    clearTimeout(session.idle);
    if (session.transport.attached || session.peer.open.requests > 0) return;
    session.idle = setTimeout(
      () => session.transport.end('the client has not been heard of'),
      idleMs,
    ).unref();
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isJson(request.headers['content-type'])) {
      throw new Refusal(415, ErrorCode.InvalidRequest, 'the content type must be application/json, in UTF-8');
    }
    const text = await bodyOf(request, maxMessageBytes);
    const session = sessionOf(request, true);
    const transport = session?.transport ?? new HttpSession(false, heartbeatMs);
    const peer = session?.peer ?? accept(transport, request);
    if (!session) response.once('close', () => void peer.close('the request is over'));
    const reply = new HttpReply(request, response, heartbeatMs);
    try {
      const answered = await peer.exchange(text);
      reply.end(answered, transport.sent, transport.over ? 503 : 200);
    } finally {
      if (session) rest(session);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    if (origin !== undefined && !origins.includes(origin)) {
      throw new Refusal(403, ErrorCode.PermissionDenied, 'this origin is not allowed');
    }
    if (origin !== undefined) {
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', lastEventHeader);
    }
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-methods', 'POST, GET, DELETE');
      response.setHeader(
        'access-control-allow-headers',
        `content-type, authorization, last-event-id, ${sessionHeader}`,
      );
      response.writeHead(204).end();
      return;
    }
    await authorize?.(request);
    if (request.method === 'POST') {
      await post(request, response);
      return;
    }
    if (request.method === 'DELETE') {
      sessionOf(request, false)?.transport.end('the client ended the session');
      response.writeHead(204).end();
      return;
    }
    const session = request.method === 'GET' ? sessionOf(request, true) : undefined;
    if (!session)
      throw new Refusal(
        405,
        ErrorCode.InvalidRequest,
        `send messages with POST; events need ${sessionHeader}`,
      );
    session.transport.attach(response, eventNumber(request.headers['last-event-id']));
    response.once('close', () => {
      if (session.transport.detach(response)) rest(session);
    });
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (response.closed) return; // the client has gone before the work began
    serve(request, response).catch((error: unknown) => refuse(response, error));
  };
  return Object.assign(handle, {
    close: async () => {
      await Promise.all([...sessions.values()].map(({ peer }) => peer.close('the server stops')));
    },
  });
}

/** A request refused before it became a message. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: unknown;

  constructor(status: number, code: number, message: string, data?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

async function bodyOf(request: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw new Refusal(413, ErrorCode.InvalidRequest, `the message is longer than ${limit} bytes`, {
        limit,
      });
    }
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isUtf8(body))
    throw new Refusal(400, ErrorCode.ParseError, 'Parse error: the message is not valid UTF-8');
  return body.toString('utf8');
}

/** JSON is UTF-8 (RFC 8259, section 8.1), whatever parameters say beside it; another character set is another text. */
function isJson(contentType = ''): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  return (
    type.trim() === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))
  );
}

/** What a client says it has seen; undefined if it is no number of ours. */
function eventNumber(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** HTTP's words for errors of the program's own; anything else was refused on purpose. */
const statuses: Readonly<Record<number, number>> = {
  [ErrorCode.Unauthorized]: 401,
  [ErrorCode.InternalError]: 500,
  [ErrorCode.Unavailable]: 503,
  [ErrorCode.RateLimited]: 429,
};

function refuse(response: ServerResponse, thrown: unknown): void {
  const known: WireError = asWireError(thrown) ?? {
    code: ErrorCode.InternalError,
    message: 'Internal error',
  };
  const status = thrown instanceof Refusal ? thrown.status : (statuses[known.code] ?? 403);
  if (response.headersSent)
    response.destroy(); // the client learns of it from the broken stream
  else {
    const headers = { 'content-type': 'application/json', ...(status === 413 && { connection: 'close' }) };
    response.writeHead(status, headers).end(errorText(null, known));
  }
}
