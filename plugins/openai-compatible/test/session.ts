/** A conversation with the plugin's model through the fake provider: asks, remembers, answers tool calls. */
import type { ChassisError } from '@chassis/errors';
import type { Message, ModelChunk, ModelRequest, ModelResponse } from '@chassis/types';
import {
  type FakeContext,
  type FakeContextOptions,
  fakeContext,
  fakeLoadContext,
} from '../../fake-context.ts';
import type { ModelConfig } from '../src/endpoint.ts';
import plugin from '../src/index.ts';
import type { FakeProvider } from './fake-provider.ts';

export const KEY = 'sk-fake-0123456789abcdef';

/** Loads the plugin with models that all speak to the provider. */
export async function load(
  provider: FakeProvider | string,
  models: { readonly [name: string]: ModelConfig } = { deepseek: {} },
  more: object = {},
): Promise<void> {
  const base_url = typeof provider === 'string' ? provider : provider.url;
  const block = Object.fromEntries(
    Object.entries(models).map(([name, model]) => [name, { base_url, ...model }]),
  );
  await plugin.on_load({ models: block, ...more } as never, fakeLoadContext(import.meta.dirname));
}

export const unload = (): Promise<void> => plugin.on_shutdown();

export interface Asked extends Partial<ModelRequest> {
  readonly model?: string;
  readonly context?: FakeContextOptions;
}

export async function ask(
  messages: readonly Message[],
  asked: Asked = {},
): Promise<{ response: ModelResponse; ctx: FakeContext }> {
  const { model = 'deepseek', context, tools = [], params = {} } = asked;
  const secrets = { DEEPSEEK_API_KEY: KEY };
  const ctx = fakeContext({ model, secrets, now: Date.parse('2026-11-28T12:00:00Z'), ...context });
  return { response: await plugin.models['*']({ messages, tools, params }, ctx), ctx };
}

/** The error that the question ends with. */
export async function problem(messages: readonly Message[], asked: Asked = {}): Promise<ChassisError> {
  try {
    await ask(messages, asked);
  } catch (error) {
    return error as ChassisError;
  }
  throw new Error('the question was answered');
}

/** The response that the streamed pieces add up to. */
export function addedUp(pieces: readonly unknown[]): object {
  const calls: { id: string; name: string; arguments: string }[] = [];
  let text = '';
  let reasoning = '';
  for (const piece of pieces as ModelChunk[]) {
    text += piece.text ?? '';
    reasoning += piece.reasoning ?? '';
    if (piece.tool_call === undefined) continue;
    const { index, id, name = '', arguments: more = '' } = piece.tool_call;
    calls[index] ??= { id: '', name: '', arguments: '' };
    const call = calls[index];
    call.id = id ?? call.id;
    call.name += name;
    call.arguments += more;
  }
  return {
    role: 'assistant',
    content: text,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
