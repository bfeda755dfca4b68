/**
 * One HTTP exchange, redirects included.
 *
 * Promise: every hop passes the same check as the first URL; headers that were meant for one origin are not
 * carried to another; memory and time stay within the settings.
 */
import { ChassisError } from '@chassis/errors';
import { type Dispatcher, fetch } from 'undici';
import { decodeBody, readBody } from './body.ts';
import type { Targets } from './target.ts';

export interface Settings {
  readonly timeout_ms: number;
  readonly max_bytes: number;
  readonly max_redirects: number;
  readonly user_agent: string;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly max_bytes?: number;
  readonly follow: boolean;
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly text: string | null;
  readonly binary: boolean;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly redirects: readonly string[];
}

/** Response headers that say something about the content; never cookies. */
const SHOWN = [
  'content-type',
  'content-length',
  'content-language',
  'content-range',
  'last-modified',
  'etag',
  'location',
  'link',
  'retry-after',
  'allow',
];
const OURS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/;
const PERSONAL = /^(authorization|cookie|.*(token|key|secret).*)$/;

export async function exchange(
  request: Exchange,
  settings: Settings,
  targets: Targets,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(settings.timeout_ms);
  const either = AbortSignal.any([signal, timeout]);
  let url = urlOf(request.url);
  let headers = headersOf(request, settings);
  const redirects: string[] = [];
  try {
    for (;;) {
      await targets.check(url);
      const response = await fetch(url, {
        method: request.method,
        headers,
        body: request.body ?? null,
        redirect: 'manual',
        signal: either,
        dispatcher,
      });
      const next = request.follow
        ? redirectOf(response.status, response.headers.get('location'), url)
        : undefined;
      if (next === undefined) {
        const limit = Math.min(request.max_bytes ?? settings.max_bytes, settings.max_bytes);
        const body = await readBody(response.body as ReadableStream<Uint8Array> | null, limit);
        return {
          url: url.href,
          status: response.status,
          headers: Object.fromEntries(
            SHOWN.flatMap((name) => {
              const value = response.headers.get(name);
              return value === null ? [] : [[name, value]];
            }),
          ),
          ...decodeBody(body, response.headers.get('content-type')),
          bytes: body.bytes.length,
          truncated: body.truncated,
          redirects,
        };
      }
      await response.body?.cancel();
      if (redirects.length === settings.max_redirects) {
        throw new ChassisError(
          'Unavailable',
          `${request.url}: more than ${settings.max_redirects} redirects`,
          {
            data: { redirects: [...redirects, url.href] },
          },
        );
      }
      redirects.push(url.href);
      if (next.origin !== url.origin) {
        headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !PERSONAL.test(name)));
      }
      url = next;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) {
      throw new ChassisError(
        'ToolTimeout',
        `${url.href}: no complete answer within ${settings.timeout_ms} ms`,
        {
          cause: error,
        },
      );
    }
    throw networkProblem(url, error);
  }
}

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new ChassisError('InvalidParams', `${JSON.stringify(text)} is no absolute URL`);
  return url;
}

function headersOf(request: Exchange, settings: Settings): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': settings.user_agent };
  for (const [given, value] of Object.entries(request.headers ?? {})) {
    const name = given.toLowerCase();
    if (OURS.test(name)) throw new ChassisError('InvalidParams', `the header ${given} cannot be set`);
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || /[\0\r\n]/.test(value) || /[^\0-\xff]/.test(value)) {
      throw new ChassisError('InvalidParams', `${JSON.stringify(given)} is no valid header`);
    }
    headers[name] = value;
  }
  return headers;
}

function redirectOf(status: number, location: string | null, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
  const next = URL.parse(location, from.href);
  if (next === null) {
    throw new ChassisError(
      'Unavailable',
      `${from.href} redirects to ${JSON.stringify(location)}, which is no URL`,
    );
  }
  return next;
}

/** Our own error from inside the connection, or what the network said. */
function networkProblem(url: URL, error: unknown): unknown {
  let code: string | undefined;
  let message = error instanceof Error ? error.message : String(error);
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ChassisError) return at;
    const own = (at as NodeJS.ErrnoException).code;
    if (typeof own === 'string') code = own;
    if (at.message !== '') message = at.message;
  }
  return new ChassisError('Unavailable', `${url.href}: ${message || code}`, {
    cause: error,
    data: { url: url.href, ...(code === undefined ? {} : { network: code }) },
  });
}
