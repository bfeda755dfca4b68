/**
 * A plugin's handlers, taken once.
 *
 * Promise: what is not there at the moment of loading is never there: a handler added later, by code that goes
 * on after its plugin failed, is not seen. Lookups are by own name only, so `toString` is no tool.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import type { Result } from '@chassis/types';
import type {
  AgentHandler,
  InvokeContext,
  InvokePayload,
  ModelHandler,
  Plugin,
  PolicyHandler,
  ToolHandler,
} from './plugin.ts';
import { failure, success } from './result.ts';
import { placeOf } from './stack-frame.ts';
import { shapeIn, type ToolShape } from './tool.ts';

export interface Handlers {
  readonly tools: ReadonlyMap<string, ToolHandler>;
  readonly models: ReadonlyMap<string, ModelHandler>;
  readonly agents: ReadonlyMap<string, AgentHandler>;
  readonly policies: ReadonlyMap<string, PolicyHandler>;
  /** Schemas of the tools that bring theirs along. */
  readonly shapes: { readonly [tool: string]: ToolShape };
}

/** @throws InvalidParams when the value is not what `definePlugin` takes */
export function handlersOf(plugin: unknown): Handlers {
  if (typeof plugin !== 'object' || plugin === null) {
    throw new ChassisError(
      'InvalidParams',
      'the default export is no plugin; write export default definePlugin({ … })',
    );
  }
  for (const hook of ['on_load', 'on_ready', 'on_shutdown'] as const) {
    const value = (plugin as Plugin)[hook];
    if (value !== undefined && typeof value !== 'function') {
      throw new ChassisError('InvalidParams', `${hook} must be a function`);
    }
  }
  const tools = new Map([...section<ToolHandler>(plugin, 'tools'), ...memoryHandlers(plugin)]);
  return {
    tools,
    shapes: shapesOf(tools),
    models: section<ModelHandler>(plugin, 'models'),
    agents: section<AgentHandler>(plugin, 'agents'),
    policies: section<PolicyHandler>(plugin, 'policies'),
  };
}

function section<H>(
  plugin: object,
  name: 'tools' | 'models' | 'agents' | 'policies',
): ReadonlyMap<string, H> {
  const value = (plugin as Record<string, unknown>)[name];
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null) {
    throw new ChassisError('InvalidParams', `${name} must be an object of functions`);
  }
  const handlers = new Map<string, H>();
  for (const [key, handler] of Object.entries(value)) {
    if (typeof handler !== 'function') {
      throw new ChassisError('InvalidParams', `${name}.${key} must be a function`);
    }
    handlers.set(key, handler as H);
  }
  return handlers;
}

/** A memory's two functions, as the tools that they are served as. */
function memoryHandlers(plugin: object): [string, ToolHandler][] {
  const { memory = {} } = plugin as { memory?: Record<string, unknown> };
  return Object.entries(memory).flatMap(([name, handlers]) =>
    (['search', 'put'] as const).map((verb): [string, ToolHandler] => {
      const made = (handlers ?? {}) as Partial<Record<typeof verb, ToolHandler>>;
      if (typeof made[verb] !== 'function')
        throw new ChassisError('InvalidParams', `memory.${name}.${verb} must be a function`);
      return [`${name}_${verb}`, (input, ctx) => made[verb]?.(input, ctx)];
    }),
  );
}

function shapesOf(tools: ReadonlyMap<string, ToolHandler>): { readonly [tool: string]: ToolShape } {
  const shapes = [...tools].map(([name, handler]) => [name, shapeIn(handler)] as const);
  return Object.fromEntries(shapes.filter((item): item is [string, ToolShape] => item[1] !== undefined));
}

/**
 * Runs the handler that a payload names. Never throws: what the handler throws is a failed Result.
 *
 * @param input what the handler gets; for a tool the arguments as plain doubles
 * @param folder the plugin's; a failure that nobody foresaw names the line there
 */
export async function runHandler(
  handlers: Handlers,
  payload: InvokePayload,
  input: unknown,
  ctx: InvokeContext,
  folder: string,
): Promise<Result> {
  try {
    return success(await call(handlers, payload, input, ctx), ctx.trace_id);
  } catch (error) {
    const result = failure(error, ctx.trace_id);
    if (result.code !== ErrorCode.InternalError || result.error === null || !(error instanceof Error))
      return result;
    // What nobody foresaw is for the plugin's author: message and place go to the caller, the stack to the log.
    for (const line of (error.stack ?? error.message).split('\n')) ctx.log('debug', line);
    const place = placeOf(error, folder);
    if (place === undefined) return result;
    return { ...result, error: { message: `${result.error.message} (${place})`, details: { place } } };
  }
}

function call(handlers: Handlers, payload: InvokePayload, input: unknown, ctx: InvokeContext): unknown {
  if ('tool' in payload) {
    const handler = handlers.tools.get(payload.tool);
    if (handler === undefined) throw noHandler('tool', payload.tool);
    return handler(input as never, ctx);
  }
  if ('model' in payload) {
    const handler = handlers.models.get(payload.model) ?? handlers.models.get('*');
    if (handler === undefined) throw noHandler('model', payload.model);
    return handler(input as never, Object.assign(ctx, { model: payload.model }));
  }
  if ('policy' in payload) {
    const handler = handlers.policies.get(payload.policy);
    if (handler === undefined) throw noHandler('policy', payload.policy);
    return handler(input as never, ctx);
  }
  const handler = handlers.agents.get(payload.agent);
  if (handler === undefined) throw noHandler('agent', payload.agent);
  return handler(input as never, ctx);
}

function noHandler(kind: string, name: string): ChassisError {
  return new ChassisError('MethodNotFound', `the plugin has no ${kind} "${name}"`);
}
