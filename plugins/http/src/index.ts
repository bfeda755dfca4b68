/**
 * The `http` plugin: `fetch_url` reads, `http_request` changes.
 *
 * Promise: see `target.ts` for which hosts can be reached; proxies are taken from HTTP_PROXY, HTTPS_PROXY and
 * NO_PROXY; a status of 400 or more is an answer.
 */
import { ChassisError } from '@chassis/errors';
import { definePlugin, type InvokeContext } from '@chassis/sdk';
import type { Json, JsonObject } from '@chassis/types';
import { EnvHttpProxyAgent } from 'undici';
import { type Answer, exchange, type Settings } from './request.ts';
import { Targets } from './target.ts';

interface Config extends Settings {
  readonly allow_hosts: readonly string[];
}

interface FetchInput {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: { readonly [name: string]: string };
  readonly max_bytes?: number;
}

interface RequestInput {
  readonly url: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly json?: Json;
  readonly max_bytes?: number;
}

const DEFAULTS: Config = {
  allow_hosts: [],
  timeout_ms: 30_000,
  max_bytes: 262_144,
  max_redirects: 5,
  user_agent: 'chassis',
};

interface Connection {
  readonly targets: Targets;
  readonly dispatcher: EnvHttpProxyAgent;
}

let config = DEFAULTS;
let connection: Connection | undefined;

/** Opened by the first call, so that a run that fetches nothing opens nothing. */
function connect(): Connection {
  if (connection === undefined) {
    const targets = new Targets(config.allow_hosts);
    // `connect` holds for direct connections; a proxy's own address is the user's choice.
    const dispatcher = new EnvHttpProxyAgent({ connect: { lookup: targets.lookup, timeout: 10_000 } });
    connection = { targets, dispatcher };
  }
  return connection;
}

async function close(): Promise<void> {
  const open = connection;
  connection = undefined;
  await open?.dispatcher.close();
}

async function fetchUrl(input: FetchInput, ctx: InvokeContext): Promise<Answer> {
  const { targets, dispatcher } = connect();
  const request = { ...input, method: input.method ?? 'GET', follow: true };
  return exchange(request, config, targets, dispatcher, ctx.signal);
}

async function httpRequest(input: RequestInput, ctx: InvokeContext): Promise<Answer> {
  const { json, ...rest } = input;
  if (json !== undefined && input.body !== undefined) {
    throw new ChassisError('InvalidParams', 'give either body or json');
  }
  const { targets, dispatcher } = connect();
  const request = {
    ...rest,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...input.headers },
    follow: false,
  };
  let status: number | null = null;
  let sent = true;
  try {
    const answer = await exchange(request, config, targets, dispatcher, ctx.signal);
    status = answer.status;
    return answer;
  } catch (error) {
    // Refused before anything left this machine.
    sent = !(
      error instanceof ChassisError &&
      (error.name === 'PermissionDenied' || error.name === 'InvalidParams')
    );
    throw error;
  } finally {
    if (sent) ctx.effect({ kind: 'http', method: input.method, url: input.url, status });
  }
}

export default definePlugin({
  on_load: async (block: JsonObject) => {
    await close();
    config = { ...DEFAULTS, ...(block as Partial<Config>) };
  },
  on_shutdown: close,
  tools: { fetch_url: fetchUrl, http_request: httpRequest },
});
