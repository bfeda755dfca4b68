/**
 * One plugin's life: loading, active, unavailable, failed, stopped.
 *
 * Promise: a plugin's trouble is its own. Nothing here throws at the registry; every way to be unusable leaves
 * one record with phase, cause and what to do. Whatever it offers appears whole, when it is ready, or not at all.
 */
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import type { Result } from '@chassis/types';
import type { Invocation, PluginState, Unavailable } from '../capability.ts';
import {
  type Diagnostics,
  type HostOptions,
  type Log,
  type Offer,
  PhaseError,
  type PluginHost,
} from '../host/host.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { unavailable } from '../plugin/unavailable.ts';
import { type BackOffTiming, backOff } from './back-off.ts';

export interface LifeOptions {
  readonly entry: CatalogueEntry;
  /** @throws PhaseError */
  prepare(): Promise<HostOptions>;
  host(options: HostOptions): PluginHost;
  changed(life: PluginLife, previous: PluginState): void;
  readonly log: Log;
  /** Between two checks of readiness. */
  readonly readyEveryMs: number;
  readonly backOff: BackOffTiming;
}

/** So many checks in a row that throw or hang, and the host is started anew. */
const DEAF_CHECKS = 3;

export class PluginLife {
  readonly entry: CatalogueEntry;
  state: PluginState = 'stopped';
  record: Unavailable | undefined;
  /** What it offers; kept while it is unavailable, so that names do not change hands. */
  offer: Offer | undefined;
  /** When it was loaded last, milliseconds since the epoch. */
  loadedAt = 0;

  readonly #options: LifeOptions;
  readonly #backOff;
  #host: PluginHost | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  #deaf = 0;
  #inFlight = 0;
  #idle: (() => void) | undefined;

  constructor(options: LifeOptions) {
    this.entry = options.entry;
    this.#options = options;
    this.#backOff = backOff(options.backOff);
  }

  /** Loads it once. Resolves when it is active, or when it is known why not. */
  async start(): Promise<void> {
    if (this.#closing) return;
    this.#become('loading');
    let host: PluginHost | undefined;
    try {
      const prepared = await this.#options.prepare();
      if (this.#closing) return;
      host = this.#options.host(prepared);
      this.#host = host;
      const offer = await host.load();
      if (this.#closing) return;
      this.offer = offer;
      this.loadedAt = Date.now();
      this.#watch(host);
      await this.#check(host);
    } catch (error) {
      this.#host = undefined;
      await host?.close();
      if (!this.#closing) this.#failed(error);
    }
  }

  /** @throws Unavailable when it is not active; what the host throws when the plugin broke */
  async invoke(invocation: Invocation): Promise<Result> {
    const host = this.#host;
    if (host === undefined || this.state !== 'active') {
      throw new ChassisError(
        'Unavailable',
        this.record?.cause.message ?? `plugin ${this.entry.name} is ${this.state}`,
        {
          data: this.record,
        },
      );
    }
    this.#inFlight++;
    try {
      return await host.invoke(invocation);
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#idle?.();
    }
  }

  diagnostics(): Diagnostics | undefined {
    return this.#host?.diagnostics?.();
  }

  /** Marks it unusable without having started it. */
  refuse(record: Unavailable, state: 'unavailable' | 'failed' = 'unavailable'): void {
    this.record = record;
    this.#become(state);
  }

  /** Resolves when no call is running, or after `mostMs`. */
  async drained(mostMs: number): Promise<void> {
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    const host = this.#host;
    this.#host = undefined;
    await host?.close();
    if (this.state !== 'failed') this.#become('stopped');
  }

  #watch(host: PluginHost): void {
    void host.gone.then(async (cause) => {
      if (this.#host !== host || this.#closing) return;
      this.#host = undefined;
      this.#failed(new PhaseError('runtime', cause, `look at the log of ${this.entry.name}`));
      await host.close();
    });
  }

  /** Asks `on_ready`, and plans the next question. */
  async #check(host: PluginHost): Promise<void> {
    let problem: Unavailable | undefined;
    try {
      const { ready, reason } = await host.ready();
      this.#deaf = 0;
      if (!ready)
        problem = this.#record(
          'on_ready',
          new ChassisError('Unavailable', reason ?? 'on_ready answered false'),
        );
    } catch (error) {
      // A plugin that is at work on a call may have no time to answer; that is no sign of ill health.
      const busy = this.#inFlight > 0 && toChassisError(error).code === ErrorCode.ToolTimeout;
      if (!busy) {
        this.#deaf++;
        problem = this.#record('on_ready', error);
      }
    }
    if (this.#host !== host || this.#closing) return;
    if (this.#deaf >= DEAF_CHECKS && problem !== undefined) {
      this.#host = undefined;
      this.#failed(new PhaseError('on_ready', ChassisError.from(problem.cause), problem.fix));
      await host.close();
      return;
    }
    const wait =
      problem === undefined ? this.#options.readyEveryMs : Math.min(1_000, this.#options.readyEveryMs);
    this.record = problem === undefined ? undefined : { ...problem, retry_at: Date.now() + wait };
    this.#become(problem === undefined ? 'active' : 'unavailable');
    this.#later(wait, () => this.#check(host));
  }

  #failed(error: unknown): void {
    const { phase, cause, fix } =
      error instanceof PhaseError
        ? error
        : {
            phase: 'runtime' as const,
            cause: toChassisError(error),
            fix: `look at plugin ${this.entry.name}`,
          };
    // A configuration or a program that cannot start does not get better by waiting.
    const wait = phase === 'config' || phase === 'spawn' ? null : this.#backOff.failed(Date.now());
    const record = this.#record(phase, cause, fix);
    if (wait === null) {
      this.refuse(record, 'failed');
      return;
    }
    this.refuse({ ...record, retry_at: Date.now() + wait });
    this.#later(wait, () => this.start());
  }

  #record(
    phase: Unavailable['phase'],
    cause: unknown,
    fix = `look at plugin ${this.entry.name}`,
  ): Unavailable {
    const capability = `plugin.${this.entry.name}`;
    return unavailable({ capability, owner: this.entry.name, phase, cause, fix });
  }

  #later(milliseconds: number, work: () => Promise<void>): void {
    clearTimeout(this.#timer);
    if (this.#closing) return;
    this.#timer = setTimeout(() => void work(), milliseconds);
    this.#timer.unref();
  }

  #become(state: PluginState): void {
    const previous = this.state;
    if (state === 'active') this.record = undefined;
    // While it is tried again, what went wrong the last time is still the best answer.
    if (state === 'loading' && this.record !== undefined)
      this.record = { ...this.record, retry_at: Date.now() };
    this.state = state;
    this.#options.changed(this, previous);
  }
}
