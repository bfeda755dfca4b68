/**
 * What a running plugin may ask of the harness. Each question becomes a child step, a recorded value, or a line of log.
 *
 * The method names are those of `host.call`, so that an agent in this process and one behind a pipe see the same desk.
 */
import { ChassisError } from '@chassis/errors';
import type { EventType } from '@chassis/journal';
import type { FileChange } from '@chassis/sdk';
import type { Effect, Json, JsonObject, Message, ModelChunk, ModelResponse, ToolSpec } from '@chassis/types';
import type { HostCalls } from '../capability.ts';
import { argumentsOf, historyMessage, toolMessage } from '../session/conversation.ts';
import type { Ask, ModelAsk, Outcome } from './ask.ts';
import type { GateFace } from './options.ts';
import type { OpenStep } from './recorder.ts';

/** Where a question comes from: an agent at the top, or a step that is under way. */
type Asker = Pick<Ask, 'agent' | 'turn'>;

export class HostDesk implements HostCalls {
  readonly #gate: GateFace;
  readonly #asker: Asker;
  readonly #step: OpenStep | null;
  readonly #plugin: string;

  constructor(gate: GateFace, asker: Asker, step: OpenStep | null, plugin: string) {
    this.#gate = gate;
    this.#asker = asker;
    this.#step = step;
    this.#plugin = plugin;
  }

  progress(data: JsonObject): void {
    if (this.#step === null) return;
    this.#step.chunk(data as ModelChunk);
    this.#gate.options.onChunk?.(this.#step.number, data as ModelChunk);
  }

  log(level: string, message: string, data?: Json): void {
    this.#gate.options.onLog?.(this.#plugin, level, message, data);
  }

  secret(name: string): Promise<string> {
    return this.#gate.options.secret(name);
  }

  async context(): Promise<Json> {
    return this.#gate.options.context(this.#asker.agent, this.#asker.turn);
  }

  async value(name: 'now' | 'random' | 'uuid'): Promise<Json> {
    return this.#gate.value(name, this.#asker.agent, this.#asker.turn, this.#step?.number ?? null);
  }

  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void {
    this.#step?.effects.push(this.#gate.options.recorder.effect(effect));
  }

  /**
   * `model.generate {messages, tools?, params?, model?, causes?, agent?}` → `{step, status, message?, response?, error?}`;
   * `tool.call {name, arguments, call_id?, causes?}` → `{step, status, output?, error?, message}`;
   * `state.update {name, value, causes?}` → `{step, status}`; `session.context {}`;
   * `session.event {type: "x-<plugin>.…", data}` → null, an event of the plugin's own. `message` is ready to be put into the conversation.
   */
  async call(method: string, params: JsonObject): Promise<Json> {
    switch (method) {
      case 'model.generate':
        return this.#generate(params);
      case 'tool.call':
        return this.#callTool(params);
      case 'state.update': {
        const { step, status } = await this.#gate.step({
          ...this.#place(params),
          kind: 'state',
          name: text(params, 'name'),
          input: params.value ?? null,
        });
        return { step, status };
      }
      case 'session.context':
        return this.context();
      case 'session.event':
        return this.#event(params);
      default:
        throw new ChassisError('MethodNotFound', `the harness has no method ${method} for plugins`, {
          data: {
            known: ['model.generate', 'tool.call', 'state.update', 'session.context', 'session.event'],
          },
        });
    }
  }

  /** Nothing reads it but who knows the plugin; it never stops a session from opening. A turn that is run again writes it again. */
  #event(params: JsonObject): Json {
    const type = text(params, 'type');
    const own = `x-${this.#plugin}.`;
    if (!type.startsWith(own) || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(type.slice(own.length))) {
      throw new ChassisError(
        'InvalidParams',
        `${JSON.stringify(type)} is no event of plugin ${this.#plugin}: its events begin with ${own}`,
        {
          data: {
            issues: [
              { path: '/type', message: `must be ${own}NAME`, expected: `${own}NAME`, received: type },
            ],
          },
        },
      );
    }
    const data = params.data ?? {};
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      throw wrong('data', 'an object', data);
    const { writer } = this.#gate.options.recorder;
    writer.append(type as EventType, data as never, this.#step?.number);
    return null;
  }

  async #generate(params: JsonObject): Promise<Json> {
    const model = this.#gate.options.model(this.#asker.turn);
    const named = params.model;
    const ask: ModelAsk = {
      ...this.#place(params),
      kind: 'model',
      name: typeof named === 'string' ? named : model.name,
      fallbacks: typeof named === 'string' ? [] : model.fallbacks,
      request: {
        messages: list(params, 'messages') as unknown as readonly Message[],
        tools: (params.tools ?? []) as unknown as readonly ToolSpec[],
        params: { ...model.params, ...((params.params ?? {}) as JsonObject) },
      },
    };
    const outcome = await this.#gate.step(ask);
    if (outcome.status !== 'ok') return plain(outcome);
    const response = outcome.output as unknown as ModelResponse;
    return {
      step: outcome.step,
      status: outcome.status,
      response: response as unknown as Json,
      message: historyMessage(response.message) as unknown as Json,
    };
  }

  async #callTool(params: JsonObject): Promise<Json> {
    const callId = params.call_id;
    const given = params.arguments ?? {};
    const outcome = await this.#gate.step({
      ...this.#place(params),
      kind: 'tool',
      name: text(params, 'name'),
      input: typeof given === 'string' ? argumentsOf(given) : given,
      ...(typeof callId === 'string' ? { call_id: callId } : {}),
    });
    const message = toolMessage(typeof callId === 'string' ? callId : `call_${outcome.step}`, outcome);
    return { ...(plain(outcome) as JsonObject), message: message as unknown as Json };
  }

  /** An agent may label its side work (`agent: "compaction"`), so that it does not count as its conversation. */
  #place(params: JsonObject) {
    const causes = params.causes;
    const label = params.agent;
    return {
      agent: typeof label === 'string' ? `${this.#asker.agent}/${label}` : this.#asker.agent,
      turn: this.#asker.turn,
      parent: this.#step?.number ?? null,
      ...(Array.isArray(causes) ? { causes: causes.filter((cause) => typeof cause === 'number') } : {}),
    };
  }
}

function plain(outcome: Outcome): Json {
  return outcome as unknown as Json;
}

function text(params: JsonObject, member: string): string {
  const value = params[member];
  if (typeof value === 'string') return value;
  throw wrong(member, 'a string', value);
}

function list(params: JsonObject, member: string): readonly Json[] {
  const value = params[member];
  if (Array.isArray(value)) return value;
  throw wrong(member, 'an array', value);
}

function wrong(member: string, expected: string, received: unknown): ChassisError {
  return new ChassisError('InvalidParams', `${member} must be ${expected}`, {
    data: {
      issues: [{ path: `/${member}`, message: `must be ${expected}`, expected, received: typeof received }],
    },
  });
}
