/**
 * An `InvokeContext` for tests that call a plugin's handlers directly: it records what the handler declares.
 */
import type { FileChange, InvokeContext, LoadContext } from '@chassis/sdk';
import type { Effect, Json, JsonObject, ModelChunk } from '@chassis/types';

export interface FakeContext extends InvokeContext {
  readonly model: string;
  readonly effects: (FileChange | Exclude<Effect, { kind: 'file' }>)[];
  readonly pieces: (ModelChunk | JsonObject)[];
  readonly logged: { readonly level: string; readonly message: string; readonly data?: Json }[];
}

export interface FakeContextOptions {
  readonly workspace?: string;
  readonly signal?: AbortSignal;
  readonly attempt?: number;
  readonly model?: string;
  readonly secrets?: { readonly [name: string]: string };
  /** What `now()` answers, milliseconds since the epoch. */
  readonly now?: number;
  /** Called for every streamed piece. */
  onProgress?(piece: ModelChunk | JsonObject): void;
}

export function fakeContext(options: FakeContextOptions = {}): FakeContext {
  const effects: FakeContext['effects'] = [];
  const pieces: FakeContext['pieces'] = [];
  const logged: FakeContext['logged'] = [];
  let uuids = 0;
  return {
    session: 'test',
    step: 1,
    trace_id: 'trace',
    attempt: options.attempt ?? 1,
    idempotency_key: 'key',
    deadline: Number.MAX_SAFE_INTEGER,
    signal: options.signal ?? new AbortController().signal,
    workspace: options.workspace ?? '/nonexistent',
    input_json: '{}',
    model: options.model ?? 'test',
    effects,
    pieces,
    logged,
    log: (level, message, data) => {
      logged.push({ level, message, ...(data === undefined ? {} : { data }) });
    },
    progress: (piece) => {
      pieces.push(piece);
      options.onProgress?.(piece);
    },
    secret: async (name) => {
      const value = options.secrets?.[name];
      if (value === undefined) throw new Error(`no secret ${name}`);
      return value;
    },
    call: async (method) => {
      throw new Error(`unexpected call of ${method}`);
    },
    now: async () => options.now ?? 0,
    random: async () => 0.5,
    uuid: async () => `00000000-0000-4000-8000-${String(++uuids).padStart(12, '0')}`,
    effect: (effect) => {
      effects.push(effect);
    },
  };
}

export function fakeLoadContext(project: string): LoadContext {
  return {
    folder: project,
    project,
    log: () => {},
    secret: async (name) => {
      throw new Error(`no secret ${name}`);
    },
  };
}
