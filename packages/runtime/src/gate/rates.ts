/**
 * How often and how many at once: what `rate` of a tool's definition allows.
 *
 * Promise: in no 60 seconds more calls start than `per_minute`, at no time more run than `concurrency`, across all
 * sessions of one registry. A call waits for its turn, first come first served, as long as it may take itself (`timeout_ms`);
 * one that would have to wait longer is refused before anything has happened. Decisions are live; a replay has their record.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChassisError } from '@chassis/errors';
import type { ToolDefinition } from '@chassis/types';
import type { ModelBinding, Registry, ToolBinding } from '../capability.ts';
import type { OpenStep } from './recorder.ts';

const minuteMs = 60_000;

export class Rates {
  readonly #now: () => number;
  /** Starts of the last minute by tool, oldest first. */
  readonly #starts = new Map<string, number[]>();
  readonly #running = new Map<string, number>();
  readonly #queues = new Map<string, (() => void)[]>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Takes a place among the calls of this minute.
   * @returns 0 when it was taken; else milliseconds until one is free, and nothing is taken
   */
  take(tool: string, perMinute: number): number {
    const now = this.#now();
    const starts = (this.#starts.get(tool) ?? []).filter((at) => at > now - minuteMs);
    this.#starts.set(tool, starts);
    const blocking = starts[starts.length - perMinute];
    if (blocking !== undefined) return Math.max(1, Math.ceil(blocking + minuteMs - now));
    starts.push(now);
    return 0;
  }

  /**
   * Waits for a place among those that run.
   * @param patienceMs milliseconds
   * @returns gives the place back; undefined when it was not free in time, or the signal aborted
   */
  async enter(
    tool: string,
    concurrency: number,
    patienceMs: number,
    signal: AbortSignal,
  ): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    const running = this.#running.get(tool) ?? 0;
    if (running < concurrency) {
      this.#running.set(tool, running + 1);
      return this.#leaving(tool);
    }
    const queue = this.#queues.get(tool) ?? [];
    this.#queues.set(tool, queue);
    return new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      // Whoever leaves hands its place over, so the number of those that run stays as it is.
      const go = (): void => {
        stop();
        resolve(this.#leaving(tool));
      };
      const giveUp = (): void => {
        stop();
        queue.splice(queue.indexOf(go), 1);
        resolve(undefined);
      };
      const timer = setTimeout(giveUp, patienceMs);
      signal.addEventListener('abort', giveUp, { once: true });
      queue.push(go);
    });
  }

  #leaving(tool: string): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#queues.get(tool)?.shift();
      if (next !== undefined) next();
      else this.#running.set(tool, (this.#running.get(tool) ?? 1) - 1);
    };
  }
}

const shared = new WeakMap<Registry, Rates>();

/** Whether a call may have to wait at all. */
export function isLimited(binding: ToolBinding | ModelBinding): binding is ToolBinding {
  return 'definition' in binding && binding.definition.rate !== undefined;
}

/**
 * Waits until a call may start. A wait for the minute's next place is on record as an attempt that was put off.
 *
 * @returns to be called when the call has ended; undefined when there is nothing to give back
 * @throws RateLimited with `data.retry_after_ms` when it would have to wait longer than it may take; Cancelled
 */
export async function inTurn(
  binding: ToolBinding,
  registry: Registry,
  step: OpenStep,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  const { definition } = binding;
  const { per_minute, concurrency } = definition.rate ?? {};
  const rates = ratesOf(registry);
  const tool = rateKey(binding);
  let leave: (() => void) | undefined;
  if (concurrency !== undefined) {
    leave = await rates.enter(tool, concurrency, definition.timeout_ms, signal);
    if (leave === undefined && !signal.aborted) throw busyError(definition, definition.timeout_ms);
  }
  try {
    for (let wait = 0, waited = 0; per_minute !== undefined && !signal.aborted; waited += wait) {
      wait = rates.take(tool, per_minute);
      if (wait === 0) break;
      if (waited + wait > definition.timeout_ms) throw rateError(definition, wait);
      step.attempt++;
      step.failAttempt(rateError(definition, wait).record(), null, wait);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) throw new ChassisError('Cancelled', 'cancelled');
    return leave;
  } catch (refused) {
    leave?.();
    throw refused;
  }
}

/** The rates of a registry: sessions that share its plugins share them. */
function ratesOf(registry: Registry): Rates {
  const known = shared.get(registry);
  if (known !== undefined) return known;
  const made = new Rates();
  shared.set(registry, made);
  return made;
}

/** The name under which a tool's calls are counted, whoever asks by whatever name. */
function rateKey({ plugin, definition }: Pick<ToolBinding, 'plugin' | 'definition'>): string {
  return `${plugin.name}/${definition.name}`;
}

/** @param waitMs milliseconds until a place is free */
function rateError({ name, rate = {} }: ToolDefinition, waitMs: number): ChassisError {
  return new ChassisError(
    'RateLimited',
    `${name} runs at most ${rate.per_minute} times a minute; a place is free in ${seconds(waitMs)}`,
    {
      data: {
        retry_after_ms: waitMs,
        per_minute: rate.per_minute,
        fix: `call it again after ${seconds(waitMs)}`,
      },
    },
  );
}

/** How long somebody waits who found every place taken; nobody knows it, so this is a guess. */
const busyMs = 1_000;

/** @param waitedMs milliseconds spent waiting in vain */
function busyError({ name, rate = {} }: ToolDefinition, waitedMs: number): ChassisError {
  return new ChassisError(
    'RateLimited',
    `${name} runs at most ${rate.concurrency} times at once, and no call ended within ${seconds(waitedMs)}`,
    {
      data: {
        retry_after_ms: busyMs,
        concurrency: rate.concurrency,
        fix: 'wait for a running call to end',
      },
    },
  );
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 100) / 10} s`;
}
