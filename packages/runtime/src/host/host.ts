/**
 * The seam between a plugin's life and the way it is run.
 *
 * Promise: every host, whatever it hosts, loads, answers readiness, invokes and closes in the same words; the
 * registry knows no kind of host by name. A host never outlives its `close`: no process, timer or handle.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, Result, ToolDefinition } from '@chassis/types';
import type { Invocation, Unavailable } from '../capability.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: Json) => void;

export interface HostOptions {
  readonly entry: CatalogueEntry;
  /** The plugin's configuration, placeholders expanded, checked against its schema. */
  readonly config: JsonObject;
  /** Names of models that the plugin serves: its manifest's and its configuration's. */
  readonly models: readonly string[];
  /** Headers for its url, complete; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Environment of a child process, complete. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the project's `chassis.yaml`. */
  readonly project: string;
  readonly log: Log;
  /** Does a part of a hook's work under a name: it is told when the hook does not finish. */
  span<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** A secret that this plugin may read. */
  secret(name: string): Promise<string>;
}

/** What a loaded plugin really offers. A name that it lists and cannot serve is dropped, with the reason. */
export interface Offer {
  readonly tools: readonly ToolDefinition[];
  readonly models: readonly string[];
  readonly agents: readonly string[];
  readonly policies?: readonly string[];
  readonly dropped: readonly {
    readonly capability: string;
    readonly cause: ChassisError;
    readonly fix: string;
  }[];
}

export interface Readiness {
  readonly ready: boolean;
  readonly reason?: string;
}

export interface PluginHost {
  /** Starts it and runs `on_load`. @throws PhaseError */
  load(): Promise<Offer>;
  /** Runs `on_ready`. @throws when it throws or hangs */
  ready(): Promise<Readiness>;
  /** @throws when the plugin broke: its process died, its answer is no Result */
  invoke(invocation: Invocation): Promise<Result>;
  /** Runs `on_shutdown` if it was loaded, then frees everything. Never throws. */
  close(): Promise<void>;
  /** Resolves with the reason if the host ends without having been closed. */
  readonly gone: Promise<ChassisError>;
  /** Told when the plugin offers something else than at the load. At most one listener. */
  onOffer?(listener: (offer: Offer) => void): void;
  /** What a process has left behind so far; only of hosts that have one. */
  diagnostics?(): Diagnostics | undefined;
}

export interface Diagnostics {
  readonly pid: number | null;
  /** The end of its stderr. */
  readonly stderr: string;
  /** The last lines on stdout that were no messages, and how many there were. */
  readonly noise: readonly string[];
  readonly noise_lines: number;
}

/** Why a load failed, and in which phase. */
export class PhaseError extends Error {
  readonly phase: Unavailable['phase'];
  override readonly cause: ChassisError;
  readonly fix: string;

  constructor(phase: Unavailable['phase'], cause: ChassisError, fix: string) {
    super(cause.message);
    this.phase = phase;
    this.cause = cause;
    this.fix = fix;
  }
}

/**
 * Waits for a hook, but no longer than its deadline. A late answer is dropped.
 *
 * @throws ToolTimeout naming the hook
 */
export async function within<T>(milliseconds: number, hook: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ChassisError('ToolTimeout', `${hook} did not finish within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads an answer of `on_ready`. @throws InvalidOutput for anything but a boolean or `{ ready, reason }` */
export function readiness(answer: unknown): Readiness {
  if (typeof answer === 'boolean') return { ready: answer };
  const { ready, reason } = (answer ?? {}) as { ready?: unknown; reason?: unknown };
  if (typeof ready !== 'boolean') {
    throw new ChassisError('InvalidOutput', 'on_ready must answer true, false, or { ready, reason }');
  }
  return { ready, ...(typeof reason === 'string' ? { reason } : {}) };
}
