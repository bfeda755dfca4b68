/**
 * A provider's token counts in one shape, whichever way it counts.
 *
 * Promise: `input` counts every prompt token once, `cached` is a part of it, `reasoning` a part of `output`;
 * nothing is negative; figures that contradict each other are flagged; figures that are not there stay unknown.
 */
import type { Usage } from '@chassis/types';

type Raw = { readonly [key: string]: unknown };

/** @returns null when the provider reported no count at all */
export function normalizeUsage(reported: unknown): Usage | null {
  if (typeof reported !== 'object' || reported === null) return null;
  const raw = reported as Raw;
  const prompt = count(raw.prompt_tokens) ?? count(raw.input_tokens) ?? sumOf(raw);
  const completion = count(raw.completion_tokens) ?? count(raw.output_tokens);
  if (prompt === undefined && completion === undefined) return null;

  const total = count(raw.total_tokens);
  const reasoning =
    count(member(raw.completion_tokens_details, 'reasoning_tokens')) ??
    count(member(raw.output_tokens_details, 'reasoning_tokens')) ??
    0;
  const beside = count(raw.cache_read_input_tokens);
  const cached =
    count(member(raw.prompt_tokens_details, 'cached_tokens')) ??
    count(member(raw.input_tokens_details, 'cached_tokens')) ??
    count(raw.prompt_cache_hit_tokens) ??
    count(raw.cached_tokens) ??
    beside ??
    0;

  let input = prompt ?? 0;
  let output = completion ?? 0;
  // Anthropic's names count the cache beside the input; elsewhere only the provider's own total can say so.
  const written = count(raw.cache_creation_input_tokens) ?? 0;
  if (raw.input_tokens !== undefined && (beside !== undefined || written > 0))
    input += (beside ?? 0) + written;
  else if (cached > 0 && total === input + cached + output) input += cached;
  // Some count reasoning beside the answer; again the total gives it away.
  if (reasoning > 0 && total === input + output + reasoning) output += reasoning;

  const inconsistent =
    cached > input ||
    reasoning > output ||
    (total !== undefined && prompt !== undefined && completion !== undefined && total !== input + output);
  return {
    input,
    cached: Math.min(cached, input),
    output,
    reasoning: Math.min(reasoning, output),
    ...(inconsistent ? { inconsistent: true } : {}),
    ...(prompt === undefined || completion === undefined ? { lower_bound: true } : {}),
  };
}

function sumOf(raw: Raw): number | undefined {
  const hit = count(raw.prompt_cache_hit_tokens);
  const miss = count(raw.prompt_cache_miss_tokens);
  return hit === undefined || miss === undefined ? undefined : hit + miss;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Raw)[key] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
