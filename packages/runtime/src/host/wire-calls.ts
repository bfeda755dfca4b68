/**
 * What a plugin process asks of the harness, and for which of its invocations.
 *
 * Promise: a question is answered only in the name of an invocation that is running; `trace_id` says which, and
 * may be left out while there is only one.
 */
import { ChassisError } from '@chassis/errors';
import type { Peer } from '@chassis/jsonrpc';
import type { ContextCalls, FileChange } from '@chassis/sdk';
import type { Effect, FileForm, Json, JsonObject } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import { Callbacks } from './callbacks.ts';
import type { HostOptions, Log } from './host.ts';

interface Running {
  readonly invocation: Invocation;
  readonly calls: ContextCalls;
}

export class WireCalls {
  readonly #running = new Map<string, Running>();
  readonly #options: HostOptions;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  begin(invocation: Invocation): ContextCalls {
    const calls = new Callbacks(invocation, this.#options);
    this.#running.set(invocation.ctx.trace_id, { invocation, calls });
    return calls;
  }

  end(invocation: Invocation): void {
    const { trace_id } = invocation.ctx;
    if (this.#running.get(trace_id)?.invocation === invocation) this.#running.delete(trace_id);
  }

  /** Offers the host's methods on a connection. Call it in the tick that made the peer. */
  offer(peer: Peer): void {
    peer.method('host.call', { exact: true }, async (params) => {
      const { method, params: given } = members(params);
      if (typeof method !== 'string') throw wrong('method', 'a string');
      if (given !== undefined && !isObject(given)) throw wrong('params', 'an object');
      const { calls } = this.#of(params);
      if (method === 'now' || method === 'random' || method === 'uuid') return calls.value(method);
      return calls.call(method, given ?? {});
    });
    peer.method('host.secret', async (params) => {
      const { name } = members(params);
      if (typeof name !== 'string') throw wrong('name', 'a string');
      return this.#options.secret(name);
    });
    peer.method('host.context', async (params) => this.#of(params).calls.call('session.context', {}));
    peer.notification('tool.effect', (params) => {
      const { effect } = members(params);
      if (!isObject(effect)) throw wrong('effect', 'an object');
      this.#of(params).calls.effect(effectOf(effect));
    });
    peer.notification('agent.log', (params) => this.#log(params));
  }

  #log(params: unknown): void {
    const { level, message, data, trace_id } = members(params);
    const text = typeof message === 'string' ? message : JSON.stringify(params ?? null);
    const known: Parameters<Log>[0] =
      level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
    const running = typeof trace_id === 'string' ? this.#running.get(trace_id) : undefined;
    const rest: [Json?] = data === undefined ? [] : [data as Json];
    if (running === undefined) this.#options.log(known, text, ...rest);
    else running.calls.log(known, text, ...rest);
  }

  #of(params: unknown): Running {
    const { trace_id } = members(params);
    if (trace_id === undefined && this.#running.size === 1) {
      const [only] = this.#running.values();
      if (only !== undefined) return only;
    }
    const running = typeof trace_id === 'string' ? this.#running.get(trace_id) : undefined;
    if (running !== undefined) return running;
    throw new ChassisError('InvalidParams', 'trace_id names no invocation that is running', {
      data: { issues: [{ path: '/trace_id', message: 'names no invocation that is running' }] },
    });
  }
}

/** File contents travel as base64. */
function effectOf(effect: JsonObject): Parameters<ContextCalls['effect']>[0] {
  if (effect.kind !== 'file') return effect as unknown as Exclude<Effect, { kind: 'file' }>;
  if (typeof effect.path !== 'string') throw wrong('effect/path', 'a string');
  return {
    kind: 'file',
    path: effect.path,
    before: content(effect, 'before'),
    after: content(effect, 'after'),
    ...form(effect, 'before_form'),
    ...form(effect, 'after_form'),
  };
}

function content(effect: JsonObject, member: 'before' | 'after'): FileChange['before'] {
  const value = effect[member] ?? null;
  if (value === null) return null;
  if (isObject(value) && typeof value.bytes === 'number') return { bytes: value.bytes };
  if (typeof value !== 'string') throw wrong(`effect/${member}`, 'base64 text, {"bytes": N}, or null');
  return Buffer.from(value, 'base64');
}

function form(effect: JsonObject, member: 'before_form' | 'after_form'): { [name: string]: FileForm } {
  const value = effect[member] ?? null;
  if (value === null) return {};
  if (!isObject(value)) throw wrong(`effect/${member}`, 'an object');
  const { mode, link } = value;
  if (mode !== undefined && !(Number.isInteger(mode) && Number(mode) >= 0 && Number(mode) <= 0o7777))
    throw wrong(`effect/${member}/mode`, 'an integer from 0 to 4095, the permission bits');
  if (link !== undefined && link !== true) throw wrong(`effect/${member}/link`, 'true');
  return { [member]: { ...(mode === undefined ? {} : { mode: Number(mode) }), ...(link ? { link } : {}) } };
}

function members(params: unknown): { readonly [member: string]: unknown } {
  if (isObject(params)) return params;
  throw new ChassisError('InvalidParams', 'params must be an object');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(member: string, expected: string): ChassisError {
  const message = `must be ${expected}`;
  return new ChassisError('InvalidParams', `${member} ${message}`, {
    data: { issues: [{ path: `/${member}`, message, expected }] },
  });
}
