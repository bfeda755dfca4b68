/**
 * What went wrong with a provider, as an error of ours.
 *
 * Promise: the provider's own words, the HTTP status, and whether trying again makes sense; never the key.
 */
import { ChassisError, type ErrorName } from '@chassis/errors';
import type { AssistantMessage, Usage } from '@chassis/types';
import type { Endpoint } from './endpoint.ts';

/** What had arrived when a call broke off. `usage` is null when the provider had reported none. */
export interface Arrived {
  readonly partial?: AssistantMessage;
  readonly usage: Usage | null;
}

const NOTHING: Arrived = { usage: null };
const CONTEXT =
  /context.?length|context.?(window|size)|maximum.{0,20}context|(prompt|input|request).{0,20}(is )?too (long|large)|too many (input )?tokens|exceeds.{0,30}token/i;
const CERTIFICATE = /^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/** An answer with a status that is no success. */
export function httpProblem(
  endpoint: Endpoint,
  status: number,
  body: string,
  headers: { readonly [name: string]: string | string[] | undefined },
): ChassisError {
  const said = spoken(body);
  const message = `${endpoint.name} answered ${status}: ${said.message || 'no explanation'}`;
  const wait = retryAfter(headers);
  return problem(endpoint, message, said, status, NOTHING, {
    ...(wait === undefined ? {} : { retry_after_ms: wait }),
    ...(status >= 300 && status < 400 ? { fix: 'The address has moved: set base_url to the new one.' } : {}),
  });
}

/** An error object in the middle of a stream, or in a body with status 200. */
export function streamProblem(endpoint: Endpoint, payload: string, arrived: Arrived): ChassisError {
  const said = spoken(payload);
  const message = `${endpoint.name} broke off: ${said.message || 'no explanation'}`;
  return problem(endpoint, message, said, said.status, arrived, {});
}

function problem(
  endpoint: Endpoint,
  message: string,
  said: Spoken,
  status: number | undefined,
  arrived: Arrived,
  more: object,
): ChassisError {
  const data = { ...(status === undefined ? {} : { status }), provider: endpoint.name, ...arrived, ...more };
  const fail = (name: ErrorName, extra: object = {}): ChassisError =>
    new ChassisError(name, message, { data: { ...data, ...extra } });
  if (status === 401 || status === 403) return fail('Unauthorized', { fix: `Check ${keySource(endpoint)}.` });
  // A used-up quota is no rate: waiting does not help.
  if (said.code === 'insufficient_quota') return fail('ModelError', { retryable: false });
  if (status === 429 || said.code === 'rate_limit_exceeded') return fail('RateLimited');
  const length = said.code === 'context_length_exceeded' || CONTEXT.test(said.message);
  if (length && (status === undefined || status === 400 || status === 413 || status === 422)) {
    return fail('ContextTooLong');
  }
  const refused = said.type === 'invalid_request_error';
  const retryable = status === undefined ? !refused : status === 408 || status === 409 || status >= 500;
  return fail('ModelError', { retryable });
}

/** The connection could not be made, or did not last. */
export function networkProblem(endpoint: Endpoint, error: unknown, arrived: Arrived): ChassisError {
  let code = 'unknown';
  let message = '';
  for (let at = error; at instanceof Error; at = at.cause) {
    const own = (at as NodeJS.ErrnoException).code;
    if (typeof own === 'string') code = own;
    if (at.message !== '') message = at.message;
  }
  const certificate = CERTIFICATE.test(code);
  const silent = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  const what = silent
    ? 'sent nothing for too long'
    : message === '' || message === code
      ? code
      : `${message} (${code})`;
  return new ChassisError('ModelError', `${endpoint.name} at ${hostOf(endpoint.baseUrl)}: ${what}`, {
    cause: error,
    data: {
      provider: endpoint.name,
      network: code,
      retryable: !certificate && !code.startsWith('UND_ERR_INVALID'),
      ...arrived,
      ...(certificate
        ? {
            fix: 'If this certificate is to be trusted, set NODE_EXTRA_CA_CERTS, or ca_file in the configuration.',
          }
        : {}),
    },
  });
}

/** The answer ended before the provider said that it was complete, or cannot be understood. */
export function brokenAnswer(
  endpoint: Endpoint,
  what: string,
  arrived: Arrived,
  more: object = {},
): ChassisError {
  return new ChassisError('ModelError', `${endpoint.name}: ${what}`, {
    data: { provider: endpoint.name, retryable: true, ...arrived, ...more },
  });
}

export function noKey(endpoint: Endpoint, env: string, cause?: unknown): ChassisError {
  return new ChassisError(
    'Unavailable',
    `no key for ${endpoint.name}: ${env} is not set; set it with: export ${env}=…`,
    {
      cause,
      data: {
        provider: endpoint.name,
        env,
        fix: `Run export ${env}=…, or set plugins.openai-compatible.config.models.${endpoint.name}.api_key to \${secret:NAME}.`,
      },
    },
  );
}

function keySource(endpoint: Endpoint): string {
  return endpoint.key.kind === 'named'
    ? endpoint.key.env
    : `plugins.openai-compatible.config.models.${endpoint.name}.api_key`;
}

interface Spoken {
  readonly message: string;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly status: number | undefined;
}

/** What an error body says, in any of the usual shapes, or its first words when it is no JSON. */
function spoken(body: string): Spoken {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    const text = body
      .replaceAll(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return { message: text.slice(0, 300), code: undefined, type: undefined, status: undefined };
  }
  const outer = object(value) ?? object((value as unknown[] | null)?.[0]) ?? {};
  const inner = object(outer.error) ?? outer;
  const code = inner.code;
  const status = [code, inner.status, inner.status_code].map(Number).find((n) => n >= 400 && n < 600);
  const message = [inner.message, outer.error, outer.message, outer.detail, outer.msg, value].find(
    (candidate): candidate is string => typeof candidate === 'string' && candidate !== '',
  );
  return {
    message: (message ?? body).slice(0, 2000),
    code: typeof code === 'string' ? code : undefined,
    type: typeof inner.type === 'string' ? inner.type : undefined,
    status,
  };
}

function object(value: unknown): { readonly [key: string]: unknown } | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as never) : undefined;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, section 10.2.3). */
function retryAfter(headers: { readonly [name: string]: string | string[] | undefined }): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return Math.ceil(ms);
  const text = headers['retry-after'];
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const then = Date.parse(text);
  const now = Date.parse(String(headers.date ?? '')) || Date.now();
  return Number.isNaN(then) ? undefined : Math.max(0, then - now);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
