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
import { type BackOffTiming, backOff, jittered } from './back-off.ts';
import { type CallCounts, ErrorRate, type ErrorRateTiming, faultOf } from './error-rate.ts';
import { Spans } from './spans.ts';

export interface LifeOptions {
  readonly entry: CatalogueEntry;
  /** @throws PhaseError */
  prepare(spans: Spans): Promise<HostOptions>;
  host(options: HostOptions): PluginHost;
  changed(life: PluginLife, previous: PluginState): void;
  /** It is in a crash loop and will not be started again by itself. */
  rested(life: PluginLife, record: Unavailable): void;
  /** Told each point of its life; what it throws is a fault at that point. */
  at(point: LifePoint): void;
  /** `file:line:column` of a member of its configuration, for a hook that finds fault with it. */
  configPlace(pointer: string): string;
  /** It offers something else than before, while it is active. */
  offered(life: PluginLife): void;
  readonly log: Log;
  /** Between two checks of readiness. */
  readonly readyEveryMs: number;
  readonly backOff: BackOffTiming;
  readonly errorRate: ErrorRateTiming;
}

export type LifePoint = 'prepare' | 'host' | 'load' | 'loaded' | 'ready' | 'close';

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
  /** What it does while it is loaded. */
  readonly spans = new Spans();

  readonly #options: LifeOptions;
  readonly #backOff;
  readonly #rate: ErrorRate;
  #host: PluginHost | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing = false;
  #closed: Promise<void> | undefined;
  #deaf = 0;
  #notReady = 0;
  #inFlight = 0;
  #idle: (() => void) | undefined;

  constructor(options: LifeOptions) {
    this.entry = options.entry;
    this.#options = options;
    this.#backOff = backOff(options.backOff);
    this.#rate = new ErrorRate(options.errorRate);
  }

  /** Loads it once. Resolves when it is active, or when it is known why not. */
  async start(): Promise<void> {
    if (this.#closing) return;
    this.#become('loading');
    this.spans.clear();
    let host: PluginHost | undefined;
    try {
      this.#options.at('prepare');
      const prepared = await this.spans.run('configuration', () => this.#options.prepare(this.spans));
      if (this.#closing) return;
      this.#options.at('host');
      host = this.#options.host(prepared);
      this.#host = host;
      this.#options.at('load');
      const loading = host;
      const offer = await this.spans.run('on_load', () => loading.load());
      if (this.#closing) return;
      this.#options.at('loaded');
      this.offer = offer;
      this.loadedAt = Date.now();
      this.#watch(host);
      this.#options.at('ready');
      await this.#check(host);
      host.onOffer?.((next) => {
        if (this.#host !== host || this.#closing) return;
        this.offer = next;
        this.#options.offered(this);
      });
    } catch (error) {
      this.#host = undefined;
      const blamed = this.#placed(this.#blamed(error));
      await host?.close();
      if (!this.#closing) this.#failed(blamed);
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
    // An agent's failure is that of its run.
    const counted = !('agent' in invocation.payload);
    try {
      const result = await host.invoke(invocation);
      if (counted) this.#count(host, faultOf(result, invocation.ctx.deadline, Date.now()));
      return result;
    } catch (error) {
      if (counted) this.#count(host, toChassisError(error).message);
      throw error;
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#idle?.();
    }
  }

  diagnostics(): Diagnostics | undefined {
    return this.#host?.diagnostics?.();
  }

  /** How its last calls went; undefined when all went well. */
  calls(): CallCounts | undefined {
    return this.#rate.counts(Date.now());
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

  /** Resolves when nothing of it is left; calling it again waits for the same. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    const host = this.#host;
    this.#host = undefined;
    try {
      this.#options.at('close');
    } catch (error) {
      this.#options.log('warn', `closing it failed: ${toChassisError(error).message}`);
    }
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
      const { ready, reason } = await this.spans.run('on_ready', () => host.ready());
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
    const { readyEveryMs } = this.#options;
    this.#notReady = problem === undefined ? 0 : this.#notReady + 1;
    const soon = jittered(1_000 * 2 ** Math.min(this.#notReady - 1, 10));
    const wait = problem === undefined ? readyEveryMs : Math.min(soon, readyEveryMs);
    this.record = problem === undefined ? undefined : { ...problem, retry_at: Date.now() + wait };
    this.#become(problem === undefined ? 'active' : 'unavailable');
    this.#later(wait, () => this.#check(host));
  }

  /** A call has ended: too many that broke, and the plugin is left in peace for a while. */
  #count(host: PluginHost, error: string | undefined): void {
    const counts = this.#rate.note(error, Date.now());
    if (counts === undefined || this.#host !== host || this.state !== 'active') return;
    const { calls, failed, last_error } = counts;
    const said =
      calls === 1 ? last_error : `${failed} of its last ${calls} calls failed, the last with: ${last_error}`;
    const { first_ms, factor, most_ms } = this.#options.backOff;
    const wait = jittered(Math.min(first_ms * factor ** (this.#rate.trips - 1), most_ms));
    const record = this.#record('runtime', new ChassisError('Unavailable', said, { data: counts }));
    this.refuse({ ...record, retry_at: Date.now() + wait });
    // What one rest did not cure, a new start may.
    const again = this.#rate.trips < 2 ? () => this.#check(host) : () => this.#anew(host);
    this.#later(wait, again);
  }

  async #anew(host: PluginHost): Promise<void> {
    if (this.#host === host) this.#host = undefined;
    await host.close();
    await this.start();
  }

  /** A hook that finds fault with a member of its configuration says which; where that was written is known here. */
  #placed(error: unknown): unknown {
    if (!(error instanceof PhaseError) || error.phase !== 'on_load') return error;
    const { code, data, message } = error.cause;
    const pointer = (data as { config?: unknown } | null | undefined)?.config;
    if (typeof pointer !== 'string' || !/^(?:\/.*)?$/s.test(pointer)) return error;
    const at = this.#options.configPlace(pointer);
    const placed = new ChassisError(code, `${at}: ${message}`, { data, cause: error.cause });
    return new PhaseError('config', placed, `correct plugins.${this.entry.name} in the configuration`);
  }

  /** A hook that did not finish in time is blamed on what it was doing. */
  #blamed(error: unknown): unknown {
    if (!(error instanceof PhaseError) || error.cause.code !== ErrorCode.ToolTimeout) return error;
    const { cause, phase, fix } = error;
    const doing = this.spans.unfinished()?.replace(/^on_load > /, '');
    const said = cause.message.includes('it last said') ? undefined : this.spans.said;
    const message = [
      cause.message,
      ...(doing === undefined ? [] : [`it was still at: ${doing}`]),
      ...(said === undefined ? [] : [`it last said: ${said}`]),
    ].join('; ');
    return new PhaseError(phase, new ChassisError(cause.code, message, { data: cause.data, cause }), fix);
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
    const hopeless = phase === 'config' || phase === 'spawn';
    const wait = hopeless ? null : this.#backOff.failed(Date.now());
    const record = this.#record(phase, cause, fix);
    if (wait !== null) {
      this.refuse({ ...record, retry_at: Date.now() + wait });
      this.#later(wait, () => this.start());
      return;
    }
    const { name } = this.entry;
    const resting = hopeless ? record : { ...record, fix: `${fix}; then: chassis plugin reload ${name}` };
    this.refuse(resting, 'failed');
    if (!hopeless) this.#options.rested(this, resting);
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
