/** What a registry is started with, and the face that it shows beyond the one the gate sees. */
import type { PluginStatus, Registry, Unavailable } from '../capability.ts';
import type { Diagnostics, Log } from '../host/host.ts';
import type { OnSecret, Secrets } from '../project/secrets.ts';
import type { BackOffTiming } from './back-off.ts';

export interface StartRegistry {
  /** Names of the plugins to start, with what they need; all that are enabled when left out. */
  readonly only?: readonly string[];
  /** Opened by the registry when left out. */
  readonly secrets?: Secrets;
  /** Told every secret value that becomes known, so that no record will hold it. Ignored with `secrets`. */
  readonly onSecret?: OnSecret;
  readonly log?: (plugin: string, ...line: Parameters<Log>) => void;
  /** Closes the registry when it aborts. */
  readonly signal?: AbortSignal;
  /** Told from time to time which plugins the start still waits for. */
  readonly onStillLoading?: (plugins: readonly string[]) => void;
  /** Between two checks of readiness; 30,000. */
  readonly readyEveryMs?: number;
  readonly backOff?: BackOffTiming;
}

export interface LiveRegistry extends Registry {
  /** Records of everything that was asked for and is not there, plugins and single names alike. */
  problems(): readonly Unavailable[];
  /** Process id, stderr and stray output of a plugin that runs in a process. */
  diagnostics(name: string): Diagnostics | undefined;
  /**
   * Reads the plugin's folder again and starts it beside the running one; calls under way finish on the old one.
   *
   * @throws Unavailable with the record in `data`; the old one then goes on as before
   */
  reload(name: string): Promise<PluginStatus>;
  /** Takes a plugin out and closes it once its calls are done. */
  unload(name: string): Promise<void>;
}
