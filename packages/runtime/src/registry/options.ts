/** What a registry is started with, and the face that it shows beyond the one the gate sees. */
import type { PluginStatus, Registry, Unavailable } from '../capability.ts';
import type { Diagnostics, Log } from '../host/host.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import type { Project } from '../project/project.ts';
import type { OnSecret, Secrets } from '../project/secrets.ts';
import type { Skill } from '../skills/skill.ts';
import type { ChangedTool } from '../tools/pins.ts';
import type { BackOffTiming } from './back-off.ts';
import type { ErrorRateTiming } from './error-rate.ts';
import type { LifePoint } from './life.ts';
import type { Rests } from './rests.ts';

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
  /** Told from time to time, ever more rarely, which plugins the start still waits for, and what they are at. */
  readonly onStillLoading?: (waiting: readonly StillLoading[]) => void;
  /** Between two checks of readiness; 30,000. */
  readonly readyEveryMs?: number;
  readonly backOff?: BackOffTiming;
  readonly errorRate?: ErrorRateTiming;
  /** Plugins in a crash loop, remembered across restarts. */
  readonly rests?: Rests;
  /**
   * Asked before code that was not there at the start is run.
   *
   * @throws why it may not
   */
  readonly admit?: (project: Project, entry: CatalogueEntry) => Promise<void>;
  /** Told each point of a load, reload and unload; what it throws is a fault at that point. */
  readonly at?: (point: Point, plugin: string) => void;
}

export type Point =
  | LifePoint
  | 'read'
  | 'admit'
  | 'resolve'
  | 'build'
  | 'swap'
  | 'tell'
  | 'drain'
  | 'retire'
  | 'unload';

export interface StillLoading {
  readonly plugin: string;
  /** `on_load > secret TOKEN`; undefined while it waits for another plugin. */
  readonly doing?: string;
}

/** Whether a run of this project could do its work now, and what keeps it from it. */
export interface ReadyReport {
  /** Everything that the configuration demands is there: its agent, one of its models, required plugins, guards. */
  readonly ready: boolean;
  /** What is demanded and not there. */
  readonly failing: readonly Unavailable[];
  /** What else is not there: the system is degraded, and works. */
  readonly degraded: readonly Unavailable[];
  readonly loading: readonly StillLoading[];
}

export interface LiveRegistry extends Registry {
  /** Records of everything that was asked for and is not there, plugins and single names alike. */
  problems(): readonly Unavailable[];
  /** Skills that can be read now, sorted by name. */
  skills(): readonly Skill[];
  /** Tools that are suspended, because their server tells another definition than at their first use. */
  changedTools(): readonly ChangedTool[];
  /** Takes a plugin's tools as they are now. @returns names of the tools that may be used again */
  acceptTools(plugin: string): readonly string[];
  /** Process id, stderr and stray output of a plugin that runs in a process. */
  diagnostics(name: string): Diagnostics | undefined;
  readiness(): ReadyReport;
  /**
   * Reads manifest, code and configuration again and starts the plugin beside the running one; calls under way finish on the
   * old one. What the configuration says about tools, secrets and skills is in force from then on; other plugins go on
   * with the blocks that they were started with. A plugin that was not there is loaded.
   *
   * @throws Unavailable with the record in `data`, InvalidParams for a broken project; all then goes on as before
   */
  reload(name: string): Promise<PluginStatus>;
  /**
   * Takes a plugin out and closes it once its calls are done.
   *
   * @throws Conflict when an active plugin needs it, unless `force` is given
   */
  unload(name: string, options?: { readonly force?: boolean }): Promise<void>;
  /** The project as it was read last. */
  readonly project: Project;
}
