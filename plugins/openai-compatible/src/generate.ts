/**
 * One model call: request, stream, answer.
 *
 * Promise: the call ends with a complete answer or with an error that holds what had arrived and the usage
 * known so far, as a lower bound. A cut stream never passes for an answer.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import type { InvokeContext } from '@chassis/sdk';
import type { ModelRequest, ModelResponse, Usage } from '@chassis/types';
import { type Dispatcher, request as httpRequest } from 'undici';
import { Answer } from './answer.ts';
import type { Endpoint } from './endpoint.ts';
import { readEvents, readText } from './events.ts';
import { cost, type Prices } from './prices.ts';
import { type Arrived, brokenAnswer, httpProblem, networkProblem, noKey, streamProblem } from './problem.ts';
import { requestBody } from './request.ts';
import { normalizeUsage } from './usage.ts';

const MAX_ERROR_BODY = 64 * 1024;
const MAX_BODY = 64 * 1024 * 1024;

export async function generate(
  endpoint: Endpoint,
  request: ModelRequest,
  ctx: InvokeContext,
  dispatcher: Dispatcher,
): Promise<ModelResponse> {
  const model = modelId(endpoint, request);
  const key = await keyOf(endpoint, ctx);
  const options = {
    model,
    passReasoning: endpoint.passesReasoning(model, { ...endpoint.params, ...request.params }),
    params: endpoint.params,
  };
  const prices = await pricesOf(endpoint, model, ctx);
  const call = new Call({ endpoint, model, key, prices, ctx, dispatcher });
  try {
    return await call.run(requestBody(request, options));
  } catch (error) {
    if (!options.passReasoning || !missesReasoning(error)) throw error;
    // Answers of another model, or without a thought, have no reasoning to pass back, but thinking mode may want
    // the member to be there. Only when the provider insists, and only for those answers, is it sent empty.
    ctx.log('warn', `${endpoint.name} wants reasoning for answers that have none; sent again with it empty`);
    return await call.run(requestBody(request, { ...options, emptyReasoning: true }));
  }
}

function missesReasoning(error: unknown): boolean {
  if (!(error instanceof ChassisError) || error.code !== ErrorCode.ModelError) return false;
  const { status } = error.data as { status?: number };
  return status === 400 && error.message.includes('reasoning_content');
}

function modelId(endpoint: Endpoint, request: ModelRequest): string {
  const asked = request.params.model;
  const model = typeof asked === 'string' && asked !== '' ? asked : endpoint.model;
  if (model !== undefined) return model;
  throw new ChassisError('InvalidParams', `${endpoint.name} needs a model id: ${endpoint.name}/MODEL`, {
    data: {
      fix: `Name the model as ${endpoint.name}/MODEL, or set plugins.openai-compatible.config.models.${endpoint.name}.model.`,
    },
  });
}

/** The key without white space around it (a file's last line end), or `''` where none is needed. */
async function keyOf(endpoint: Endpoint, ctx: InvokeContext): Promise<string> {
  if (endpoint.key.kind === 'given') return endpoint.key.value.trim();
  const { env, optional } = endpoint.key;
  let reason: unknown;
  const key = await ctx.secret(env).catch((error: unknown) => {
    reason = error;
    return '';
  });
  if (reason instanceof ChassisError && reason.code === ErrorCode.PermissionDenied) throw reason;
  if (key.trim() === '' && !optional) throw noKey(endpoint, env, reason);
  return key.trim();
}

async function pricesOf(endpoint: Endpoint, model: string, ctx: InvokeContext): Promise<Prices | undefined> {
  const { prices } = endpoint;
  return typeof prices === 'function' ? prices(model, await ctx.now()) : prices;
}

class Call {
  readonly #endpoint: Endpoint;
  readonly #model: string;
  readonly #key: string;
  readonly #prices: Prices | undefined;
  readonly #ctx: InvokeContext;
  readonly #dispatcher: Dispatcher;

  constructor(of: {
    endpoint: Endpoint;
    model: string;
    key: string;
    prices: Prices | undefined;
    ctx: InvokeContext;
    dispatcher: Dispatcher;
  }) {
    this.#endpoint = of.endpoint;
    this.#model = of.model;
    this.#key = of.key;
    this.#prices = of.prices;
    this.#ctx = of.ctx;
    this.#dispatcher = of.dispatcher;
  }

  async run(body: string): Promise<ModelResponse> {
    const answer = new Answer();
    try {
      const response = await httpRequest(`${this.#endpoint.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: {
          ...this.#endpoint.headers,
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...(this.#key === '' ? {} : { authorization: `Bearer ${this.#key}` }),
        },
        body,
        signal: this.#ctx.signal,
        dispatcher: this.#dispatcher,
      });
      if (response.statusCode !== 200) {
        const said = await readText(response.body, MAX_ERROR_BODY);
        throw httpProblem(this.#endpoint, response.statusCode, this.#hide(said), response.headers);
      }
      await this.#read(response, answer);
    } catch (error) {
      if (this.#ctx.signal.aborted) throw this.#cancelled(answer);
      if (error instanceof ChassisError) throw error;
      // When the answer was complete, only the end of the connection was not.
      if (!answer.complete) throw networkProblem(this.#endpoint, error, this.#arrived(answer));
    }
    return this.#finished(answer);
  }

  async #read(response: Dispatcher.ResponseData, answer: Answer): Promise<void> {
    const type = String(response.headers['content-type'] ?? '').toLowerCase();
    if (type.startsWith('application/json')) {
      // Asked for a stream, but answered at once.
      this.#take(await readText(response.body, MAX_BODY), answer);
      answer.end();
      return;
    }
    if (type.startsWith('text/html')) {
      await readText(response.body, MAX_ERROR_BODY);
      const what = `the address answered with a web page; is base_url (${this.#endpoint.baseUrl}) right?`;
      throw brokenAnswer(this.#endpoint, what, { usage: null }, { retryable: false });
    }
    await readEvents(response.body, (data) => {
      if (data.trim() === '[DONE]') {
        answer.end();
        return false;
      }
      this.#take(data, answer);
      return true;
    });
  }

  /** Takes one payload as text; an error object, or what is no JSON object, ends the call. */
  #take(data: string, answer: Answer): void {
    if (data.trim() === '') return;
    const payload = parsed(data);
    if (payload?.error) throw streamProblem(this.#endpoint, this.#hide(data), this.#arrived(answer));
    if (payload !== undefined) {
      for (const chunk of answer.add(payload)) this.#ctx.progress(chunk);
    } else if (!answer.complete) {
      throw brokenAnswer(this.#endpoint, 'sent a piece that is no JSON object', this.#arrived(answer));
    }
  }

  async #finished(answer: Answer): Promise<ModelResponse> {
    if (!answer.complete) {
      const what = 'the stream ended before the answer was complete';
      throw brokenAnswer(this.#endpoint, what, this.#arrived(answer), { network: 'ended' });
    }
    if (answer.rawFinish === 'insufficient_system_resource') {
      throw brokenAnswer(this.#endpoint, 'ran out of resources in mid-answer', this.#arrived(answer));
    }
    const ids = new Map<number, string>();
    for (const ordinal of answer.callsWithoutId) ids.set(ordinal, `call_${await this.#ctx.uuid()}`);
    const { finish, rawFinish } = answer;
    return {
      message: answer.message((ordinal) => ids.get(ordinal) ?? ''),
      finish_reason: finish,
      ...(rawFinish === undefined || rawFinish === finish ? {} : { raw_finish_reason: rawFinish }),
      usage: this.#usage(answer),
      model: answer.model ?? this.#model,
    };
  }

  #cancelled(answer: Answer): ChassisError {
    const reason: unknown = this.#ctx.signal.reason;
    const data = { provider: this.#endpoint.name, ...this.#arrived(answer) };
    if (reason instanceof ChassisError)
      return new ChassisError(reason.code, reason.message, { data, cause: reason });
    const late = reason instanceof Error && reason.name === 'TimeoutError';
    return new ChassisError(
      late ? 'ToolTimeout' : 'Cancelled',
      late ? 'the model took too long' : 'cancelled',
      {
        data,
        cause: reason,
      },
    );
  }

  /** What is there of an answer that broke off. */
  #arrived(answer: Answer): Arrived {
    const message = answer.message((ordinal) => `call_${ordinal}`);
    const usage = this.#usage(answer);
    return {
      ...(answer.empty ? {} : { partial: message }),
      usage: usage === null ? null : { ...usage, lower_bound: true },
    };
  }

  #usage(answer: Answer): Usage | null {
    const usage = normalizeUsage(answer.usage);
    if (usage === null || this.#prices === undefined) return usage;
    return { ...usage, cost_usd: cost(usage, this.#prices) };
  }

  /** The text without the key and the configured header values, should the provider repeat them. */
  #hide(text: string): string {
    return [this.#key, ...Object.values(this.#endpoint.headers)]
      .filter((secret) => secret.length >= 8)
      .reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
  }
}

function parsed(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as never)
      : undefined;
  } catch {
    return undefined;
  }
}
