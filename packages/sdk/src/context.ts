/** The context of one invocation, over whatever carries its calls: the gate in this process, or a pipe. */
import type { Effect, Json, JsonObject } from '@chassis/types';
import type { FileChange, InvokeContext, WireContext } from './plugin.ts';

/** Where a context's calls go. */
export interface ContextCalls {
  progress(data: JsonObject): void;
  log(level: string, message: string, data?: Json): void;
  secret(name: string): Promise<string>;
  call(method: string, params: JsonObject): Promise<Json>;
  value(name: 'now' | 'random' | 'uuid'): Promise<Json>;
  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void;
}

/** @param inputJson the exact text of the input, made only if the handler asks for it */
export function invokeContext(
  wire: WireContext,
  signal: AbortSignal,
  inputJson: () => string,
  calls: ContextCalls,
): InvokeContext {
  let text: string | undefined;
  return Object.defineProperty(
    {
      ...wire,
      signal,
      log: (level: string, message: string, data?: Json) => calls.log(level, message, data),
      progress: (data: JsonObject) => calls.progress(data),
      secret: (name: string) => calls.secret(name),
      call: (method: string, params: JsonObject) => calls.call(method, params),
      now: async () => (await calls.value('now')) as number,
      random: async () => (await calls.value('random')) as number,
      uuid: async () => (await calls.value('uuid')) as string,
      effect: (effect: FileChange | Exclude<Effect, { kind: 'file' }>) => calls.effect(effect),
    },
    'input_json',
    {
      enumerable: true,
      get: () => {
        text ??= inputJson();
        return text;
      },
    },
  ) as unknown as InvokeContext;
}
