/**
 * The models that this plugin knows: presets, and what the configuration adds to or changes in them.
 *
 * Promise: pure; nothing here reads a key.
 */
import { ChassisError } from '@chassis/errors';
import type { JsonObject } from '@chassis/types';
import { modelPrices, type Prices, type PriceTable } from './prices.ts';

/** One entry of `plugins.openai-compatible.config.models`. */
export interface ModelConfig {
  readonly base_url?: string;
  readonly model?: string;
  readonly api_key?: string;
  readonly api_key_env?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly reasoning?: 'deepseek' | 'none';
  readonly params?: JsonObject;
  readonly prices?: Prices;
}

export interface Endpoint {
  /** Registered name, `deepseek`: the provider's name in errors. */
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string | undefined;
  readonly key:
    | { readonly kind: 'given'; readonly value: string }
    | { readonly kind: 'named'; readonly env: string; readonly optional: boolean };
  readonly headers: { readonly [name: string]: string };
  /** Whether this model's reasoning text is to be passed back to it. */
  passesReasoning(model: string, params: JsonObject): boolean;
  readonly params: JsonObject;
  /** Undefined when they are not known. */
  readonly prices: Prices | PriceTable | undefined;
}

interface Preset extends ModelConfig {
  readonly base_url: string;
  readonly api_key_env: string;
  readonly keyless?: boolean;
}

const PRESETS: { readonly [name: string]: Preset } = {
  deepseek: {
    base_url: 'https://api.deepseek.com',
    model: 'deepseek-flash',
    api_key_env: 'DEEPSEEK_API_KEY',
    reasoning: 'deepseek',
  },
  openai: { base_url: 'https://api.openai.com/v1', api_key_env: 'OPENAI_API_KEY' },
  ollama: { base_url: 'http://127.0.0.1:11434/v1', api_key_env: 'OLLAMA_API_KEY', keyless: true },
};

/** @param models the configuration's block */
export function endpoints(models: { readonly [name: string]: ModelConfig } = {}): Map<string, Endpoint> {
  const names = new Set([...Object.keys(PRESETS), ...Object.keys(models)]);
  return new Map([...names].map((name) => [name, endpoint(name, models[name] ?? {})]));
}

function endpoint(name: string, config: ModelConfig): Endpoint {
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  const baseUrl = config.base_url ?? preset?.base_url;
  if (baseUrl === undefined) {
    throw new ChassisError(
      'InvalidParams',
      `plugins.openai-compatible.config.models.${name}: base_url is missing`,
    );
  }
  const env = config.api_key_env ?? preset?.api_key_env;
  const reasoning = config.reasoning ?? preset?.reasoning ?? 'none';
  return {
    name,
    baseUrl: baseUrl.replace(/(\/chat\/completions)?\/*$/, ''),
    model: config.model ?? preset?.model,
    key:
      config.api_key !== undefined || env === undefined
        ? { kind: 'given', value: config.api_key ?? '' }
        : { kind: 'named', env, optional: config.api_key_env === undefined && preset?.keyless === true },
    headers: { ...preset?.headers, ...config.headers },
    passesReasoning: (model, params) => reasoning === 'deepseek' && thinks(model, params),
    params: { ...preset?.params, ...config.params },
    prices: config.prices ?? modelPrices(name),
  };
}

/** DeepSeek's models think unless told not to; the old name `deepseek-chat` means that they do not. */
function thinks(model: string, params: JsonObject): boolean {
  const thinking = params.thinking as { type?: unknown } | null | undefined;
  if (thinking?.type === 'disabled') return false;
  return model !== 'deepseek-chat' || thinking?.type === 'enabled';
}
