/** What is said to a plugin behind a connection; protocols differ in this and in nothing else. */
import { ChassisError, ErrorCode } from '@chassis/errors';
import { type Peer, RpcError } from '@chassis/jsonrpc';
import type { ToolShape } from '@chassis/sdk';
import type { JsonObject, Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import { CHASSIS_VERSION } from '../version.ts';
import { type HostOptions, type Offer, type Readiness, readiness } from './host.ts';
import type { Link } from './link.ts';
import { offerOf } from './offer.ts';

export interface Protocol {
  load(peer: Peer, options: HostOptions, link: Link): Promise<Offer>;
  ready(peer: Peer, link: Link): Promise<Readiness>;
  /** @throws what the connection throws; that means the plugin broke */
  invoke(peer: Peer, invocation: Invocation, progress: (data: unknown) => void): Promise<Result>;
  shutdown(peer: Peer): Promise<void>;
}

/** No deadline of the connection's own: hooks and invocations have theirs. */
const PATIENT = { timeoutMs: 0 } as const;

/** `plugin.load`, `plugin.ready`, `plugin.invoke`, `plugin.shutdown`. */
export const chassisProtocol: Protocol = {
  async load(peer, options, link) {
    const { manifest } = options.entry.source;
    const answer = await optional(
      peer.call(
        'plugin.load',
        {
          config: options.config,
          plugin: { name: manifest.name, version: manifest.version },
          // Paths of this machine say nothing on another one, and are none of its business.
          ...(link.remote ? {} : { folder: options.entry.folder, project: options.project }),
          chassis: CHASSIS_VERSION,
        },
        PATIENT,
      ),
    );
    return offerOf(options.entry.source, options.models, servedIn(answer));
  },

  async ready(peer) {
    const answer = await optional(peer.call('plugin.ready', {}, PATIENT));
    return answer === undefined || answer === null ? { ready: true } : readiness(answer);
  },

  async invoke(peer, { payload, ctx, stop }, onProgress) {
    const answer = await peer.call(
      'plugin.invoke',
      { ...payload, ctx },
      { timeoutMs: 0, signal: stop, onProgress, exact: true },
    );
    return resultOf(answer, ctx.trace_id);
  },

  async shutdown(peer) {
    await optional(peer.call('plugin.shutdown', {}, PATIENT));
  },
};

/** A hook that a plugin does not have is one that has nothing to do. */
async function optional(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcError && error.code === ErrorCode.MethodNotFound) return undefined;
    throw error;
  }
}

/** The names that a plugin says it serves; a plugin that says nothing is believed to serve its manifest. */
function servedIn(answer: unknown): Parameters<typeof offerOf>[2] {
  const { tools, models, agents, policies, shapes } = (answer ?? {}) as Record<string, unknown>;
  if (!Array.isArray(tools) && !Array.isArray(models) && !Array.isArray(agents)) return undefined;
  const names = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
  return {
    tools: names(tools),
    models: names(models),
    agents: names(agents),
    policies: names(policies),
    ...(typeof shapes === 'object' && shapes !== null
      ? { shapes: shapes as { [tool: string]: ToolShape } }
      : {}),
  };
}

/** @throws InvalidOutput when the answer is no Result */
function resultOf(answer: unknown, trace_id: string): Result {
  const { code, data, error, effects } = (answer ?? {}) as Partial<Result>;
  const problem = resultProblem(answer);
  if (problem !== undefined || code === undefined) {
    throw new ChassisError('InvalidOutput', `the plugin answered no Result: ${problem}`, {
      data: { expected: '{ code, data, error, trace_id }' },
    });
  }
  return {
    code,
    data: data ?? null,
    error: error ?? null,
    trace_id,
    ...(effects === undefined ? {} : { effects }),
  };
}

function resultProblem(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'it is no object';
  const { code, error, effects } = answer as JsonObject;
  if (!Number.isSafeInteger(code)) return '"code" is missing or no whole number';
  const said = (error as { message?: unknown } | null | undefined)?.message;
  if (code !== 0 && typeof said !== 'string')
    return `"code" is ${JSON.stringify(code)}, but "error.message" is missing`;
  if (code === 0 && error !== null && error !== undefined) return '"code" is 0, but "error" is there';
  if (effects !== undefined && !Array.isArray(effects)) return '"effects" is no list';
  return undefined;
}
