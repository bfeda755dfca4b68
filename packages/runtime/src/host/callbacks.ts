/**
 * What a running plugin may call back, within its permissions.
 *
 * Promise: the same rules hold for a plugin in this process and one behind a pipe. Agents may use what agents
 * are made of; everything else must be listed under `permissions.methods`. Secrets are the plugin's own.
 */
import { ChassisError } from '@chassis/errors';
import type { ContextCalls } from '@chassis/sdk';
import type { Json, JsonObject } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import type { HostOptions } from './host.ts';

/** What an agent is made of. */
const AGENT_METHODS = new Set(['model.generate', 'tool.call', 'state.update', 'session.context']);

/** What every plugin may do: it concerns only itself. */
const OWN_METHODS = new Set(['session.event']);

export class Callbacks implements ContextCalls {
  readonly #invocation: Invocation;
  readonly #options: HostOptions;

  constructor(invocation: Invocation, options: HostOptions) {
    this.#invocation = invocation;
    this.#options = options;
  }

  progress(data: JsonObject): void {
    this.#invocation.host.progress(data);
  }

  log(level: string, message: string, data?: Json): void {
    this.#invocation.host.log(level, message, data);
  }

  secret(name: string): Promise<string> {
    return this.#options.secret(name);
  }

  value(name: 'now' | 'random' | 'uuid'): Promise<Json> {
    return this.#invocation.host.value(name);
  }

  effect(effect: Parameters<ContextCalls['effect']>[0]): void {
    this.#invocation.host.effect(effect);
  }

  async call(method: string, params: JsonObject): Promise<Json> {
    const { host, payload } = this.#invocation;
    const { manifest } = this.#options.entry.source;
    const { method: target, params: given, tool } = asHostMethod(method, params);
    const names = tool === undefined ? [method, target] : [method, target, `tool.${tool}`, tool];
    const allowed =
      OWN_METHODS.has(target) ||
      ('agent' in payload && AGENT_METHODS.has(target)) ||
      mayCall(manifest.permissions.methods, names);
    if (!allowed) {
      throw new ChassisError('PermissionDenied', `plugin ${manifest.name} may not call ${method}`, {
        data: { fix: `list "${method}" under permissions.methods of ${manifest.name}` },
      });
    }
    const answer = await host.call(target, given);
    return target === method ? answer : outputOf(answer);
  }
}

/** `tool.<name>` and `plugin.<plugin>.<tool>` are calls of a tool, with its arguments as params. */
function asHostMethod(
  method: string,
  params: JsonObject,
): { readonly method: string; readonly params: JsonObject; readonly tool?: string } {
  if (method === 'tool.call') {
    return { method, params, ...(typeof params.name === 'string' ? { tool: params.name } : {}) };
  }
  const tool = /^tool\.([A-Za-z0-9_-]+)$/.exec(method)?.[1];
  if (tool !== undefined) return { method: 'tool.call', params: { name: tool, arguments: params }, tool };
  if (/^plugin\.[a-z0-9-]+\.[A-Za-z0-9_-]+$/.test(method)) {
    return { method: 'tool.call', params: { name: method, arguments: params } };
  }
  return { method, params };
}

/** The tool's own output; its failure is thrown. */
function outputOf(answer: Json): Json {
  const outcome = answer as {
    status?: string;
    output?: Json;
    error?: { code: number; message: string; data?: unknown };
  };
  if (outcome.error !== undefined) throw ChassisError.from(outcome.error);
  return outcome.output ?? null;
}

/** Whether patterns of `permissions.methods` grant a method, by any of its names. */
export function mayCall(patterns: readonly string[], names: readonly string[]): boolean {
  return patterns.some((pattern) => names.some((name) => matches(pattern, name)));
}

/** A pattern is a method, or a beginning of methods that ends in `*`. */
function matches(pattern: string, method: string): boolean {
  return pattern.endsWith('*') ? method.startsWith(pattern.slice(0, -1)) : pattern === method;
}
