/** A registry whose tools, models and agent are functions of the test: everything else around the gate is real. */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type {
  AssistantMessage,
  Json,
  JsonObject,
  ModelRequest,
  ModelResponse,
  Result,
  ToolDefinition,
} from '@chassis/types';
import type { Invocation, Registry, ToolBinding, Unavailable } from '../../src/capability.ts';

type Ctx = Pick<
  InvokeContext,
  'progress' | 'effect' | 'call' | 'now' | 'signal' | 'attempt' | 'idempotency_key' | 'step'
>;

export interface FakeTool extends Partial<Omit<ToolDefinition, 'name'>> {
  run(input: JsonObject, ctx: Ctx): unknown;
}

export interface Fakes {
  readonly tools?: { readonly [name: string]: FakeTool };
  readonly models?: {
    readonly [name: string]: (request: ModelRequest, ctx: Ctx) => ModelResponse | Promise<ModelResponse>;
  };
  readonly agent?: (input: AgentInput, ctx: Ctx) => Promise<unknown>;
}

const plugin = { name: 'fakes', version: '1.0.0', digest: '0'.repeat(64) };

export function fakeRegistry(fakes: Fakes): Registry {
  const tools: ToolBinding[] = Object.entries(fakes.tools ?? {})
    .map(([name, { run, ...definition }]) => ({
      name,
      plugin,
      definition: {
        name,
        description: name,
        input: { type: 'object' },
        effects: 'none' as const,
        idempotent: false,
        approval: 'auto' as const,
        timeout_ms: 10_000,
        ...definition,
      },
      invoke: (invocation: Invocation) =>
        answer(invocation, (ctx) => run(invocation.payload.input as JsonObject, ctx)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    tools: () => tools,
    resolveTool: (name) => tools.find((tool) => tool.name === name) ?? missing('tool', name),
    resolveModel: (reference) => {
      const run = fakes.models?.[reference];
      if (run === undefined) return missing('model', reference);
      return {
        name: reference,
        plugin,
        invoke: (invocation) =>
          answer(invocation, (ctx) => run(invocation.payload.input as ModelRequest, ctx)),
      };
    },
    resolveAgent: (name) => {
      const run = fakes.agent;
      if (run === undefined) return missing('agent', name);
      return {
        name,
        plugin,
        invoke: (invocation) => answer(invocation, (ctx) => run(invocation.payload.input as AgentInput, ctx)),
      };
    },
    plugins: () => [],
    subscribe: () => () => {},
    close: async () => {},
  };
}

async function answer({ host, signal, ctx }: Invocation, run: (ctx: Ctx) => unknown): Promise<Result> {
  const desk: Ctx = {
    signal,
    step: ctx.step,
    attempt: ctx.attempt,
    idempotency_key: ctx.idempotency_key,
    progress: (data) => host.progress(data as JsonObject),
    effect: (effect) => host.effect(effect),
    call: (method, params) => host.call(method, params),
    now: async () => (await host.value('now')) as number,
  };
  try {
    const data = (await run(desk)) as Json;
    return { code: 0, data: data ?? null, error: null, trace_id: ctx.trace_id };
  } catch (thrown) {
    const error = toChassisError(thrown);
    return {
      code: error.code,
      data: null,
      error: { message: error.message, ...(error.data === undefined ? {} : { details: error.data as Json }) },
      trace_id: ctx.trace_id,
    };
  }
}

function missing(kind: string, name: string): Unavailable {
  return {
    capability: `${kind}.${name}`,
    owner: null,
    phase: 'unknown',
    cause: new ChassisError('Unavailable', `there is no ${kind} ${name}`).record(),
    since: 0,
    alternatives: [],
    fix: 'name one that is there',
  };
}

/** An assistant's answer in short: text, or calls as `[id, name, arguments]`. */
export function says(
  content: string,
  calls: readonly [string, string, Json | string][] = [],
  more: object = {},
): ModelResponse {
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(([id, name, args]) => ({
            id,
            name,
            arguments: typeof args === 'string' ? args : JSON.stringify(args),
          })),
        }),
  };
  return {
    message,
    finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
    usage: { input: 10, cached: 0, output: 5, reasoning: 0 },
    model: 'fake-1',
    ...more,
  };
}

/** A model that answers by how many assistant messages the request holds. */
export function scripted(...answers: (ModelResponse | ((request: ModelRequest) => ModelResponse))[]) {
  return (request: ModelRequest): ModelResponse => {
    const turn = request.messages.filter((message) => message.role === 'assistant').length;
    const next = answers[turn];
    if (next === undefined)
      throw new ChassisError('ModelError', `the script has no answer ${turn + 1}`, {
        data: { retryable: false },
      });
    return typeof next === 'function' ? next(request) : next;
  };
}
