/**
 * A plugin as a process: the same object that runs inline, behind JSON-RPC on stdio.
 *
 * Promise: stdout carries messages only, whatever the plugin prints. When the harness is gone, so is the
 * process: it never waits for a plugin's own timers or sockets.
 */
import { ChassisError, toChassisError } from '@chassis/errors';
import { type Context, Peer, stdioTransport, type Transport } from '@chassis/jsonrpc';
import type { Effect, Json, JsonObject } from '@chassis/types';
import { type ContextCalls, invokeContext } from './context.ts';
import { type Handlers, handlersOf, runHandler } from './handlers.ts';
import type { FileChange, InvokePayload, Plugin, WireContext } from './plugin.ts';

/** How long `on_shutdown` may take when the harness is gone and nobody waits for it. */
const LAST_WORDS_MS = 5_000;

interface LoadParams {
  readonly config?: JsonObject;
  readonly folder?: string;
  readonly project?: string;
}

/**
 * Serves a plugin on stdin and stdout until the harness closes them, then ends the process.
 *
 * @example if (import.meta.main) await serve(plugin);
 */
export async function serve(plugin: Plugin): Promise<never> {
  await servePlugin(plugin, stdioTransport());
  process.exit(process.exitCode ?? 0);
}

/** Serves a plugin on any transport. Resolves when the connection is over and `on_shutdown` has run. */
export async function servePlugin(plugin: Plugin, transport: Transport): Promise<void> {
  await pluginPeer(plugin, transport).over;
}

/** The plugin's end of a connection; `over` resolves when the connection is over and `on_shutdown` has run. */
export function pluginPeer(
  plugin: Plugin,
  transport: Transport,
): { readonly peer: Peer; readonly over: Promise<void> } {
  const peer = new Peer(transport, { timeoutMs: 0, discover: false });
  let handlers: Handlers | undefined;
  let home = process.cwd();
  const shutdown = async (): Promise<void> => {
    const loaded = handlers !== undefined;
    handlers = undefined;
    if (loaded) await plugin.on_shutdown?.();
  };

  peer.method('plugin.load', async (params) => {
    const { config = {}, folder = process.cwd(), project = folder } = (params ?? {}) as LoadParams;
    handlersOf(plugin);
    home = folder;
    await plugin.on_load?.(config, {
      folder,
      project,
      log: (level, message, data) => logLine(peer, undefined, level, message, data),
      secret: (name) => peer.call<string>('host.secret', { name }),
    });
    const taken = handlersOf(plugin);
    handlers = taken;
    return {
      tools: [...taken.tools.keys()],
      models: [...taken.models.keys()],
      agents: [...taken.agents.keys()],
      policies: [...taken.policies.keys()],
      ...(Object.keys(taken.shapes).length === 0 ? {} : { shapes: taken.shapes }),
    };
  });
  peer.method('plugin.ready', async () => (await plugin.on_ready?.()) ?? true);
  peer.method('plugin.shutdown', async () => {
    await shutdown();
    return null;
  });
  peer.method('plugin.invoke', { exact: true }, async (params, context) => {
    if (handlers === undefined) throw new ChassisError('Unavailable', 'the plugin is not loaded');
    const { ctx, ...payload } = params as { ctx: WireContext } & InvokePayload;
    const exact = (): string => JSON.stringify(payload.input);
    const input: unknown = 'model' in payload ? payload.input : JSON.parse(exact());
    const invocation = invokeContext(ctx, context, exact, new PeerCalls(peer, ctx.trace_id, context));
    return runHandler(handlers, payload, input, invocation, home);
  });

  const lastWords = async (): Promise<void> => {
    await peer.closed;
    await Promise.race([
      shutdown().catch((error: unknown) => {
        process.stderr.write(`on_shutdown failed: ${toChassisError(error).message}\n`);
      }),
      new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref()),
    ]);
  };
  return { peer, over: lastWords() };
}

/** What an invocation asks of the harness, on the connection that it came from. */
class PeerCalls implements ContextCalls {
  readonly #peer: Peer;
  readonly #trace_id: string;
  readonly #context: Context;

  constructor(peer: Peer, trace_id: string, context: Context) {
    this.#peer = peer;
    this.#trace_id = trace_id;
    this.#context = context;
  }

  progress(data: JsonObject): void {
    this.#context.progress(data);
  }

  log(level: string, message: string, data?: Json): void {
    logLine(this.#peer, this.#trace_id, level, message, data);
  }

  secret(name: string): Promise<string> {
    return this.#ask('host.secret', { name });
  }

  call(method: string, params: JsonObject): Promise<Json> {
    return this.#ask('host.call', { method, params });
  }

  value(name: 'now' | 'random' | 'uuid'): Promise<Json> {
    return this.#ask('host.call', { method: name });
  }

  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void {
    const said = { trace_id: this.#trace_id, effect: onWire(effect) };
    this.#peer.notify('tool.effect', said).catch(() => {});
  }

  #ask<T>(method: string, params: JsonObject): Promise<T> {
    return this.#peer.call<T>(method, { ...params, trace_id: this.#trace_id }, { exact: true });
  }
}

function logLine(
  peer: Peer,
  trace_id: string | undefined,
  level: string,
  message: string,
  data?: Json,
): void {
  const line = {
    level,
    message,
    ...(data === undefined ? {} : { data }),
    ...(trace_id === undefined ? {} : { trace_id }),
  };
  peer.notify('agent.log', line).catch(() => {});
}

/** File contents travel as base64. */
function onWire(effect: FileChange | Exclude<Effect, { kind: 'file' }>): unknown {
  if (effect.kind !== 'file') return effect;
  const text = (content: FileChange['before']) =>
    content instanceof Uint8Array ? Buffer.from(content).toString('base64') : content;
  return { ...effect, before: text(effect.before), after: text(effect.after) };
}
