/**
 * Everything a session needs around it: project, secrets, store, plugins.
 *
 * Promise: no plugin code runs before the project is trusted; every secret that becomes known is kept out of the record and
 * of what is printed from then on; `close` leaves no process behind.
 */
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { Secrets, type SessionView, type Store } from '@chassis/journal';
import {
  isUnavailable,
  type LiveRegistry,
  openSecrets,
  type Project,
  restsIn,
  type SessionSettings,
  type StillLoading,
  type Surroundings,
  serveControl,
  startRegistry,
  watchPlugins,
} from '@chassis/runtime';
import { approver } from './approvals.ts';
import type { Interrupts } from './interrupt.ts';
import type { Output } from './output.ts';
import { projectOf } from './project.ts';
import type { Globals } from './reference/spec.ts';
import { refusalOf } from './refusal.ts';
import type { RunView } from './run-view.ts';
import { settingsOf } from './settings.ts';
import { openStore, storeFolder } from './store.ts';
import { visible } from './terminal/text.ts';
import { demandTrust, ensureTrust } from './trust-question.ts';

export interface Workbench {
  readonly project: Project;
  readonly store: Store;
  readonly registry: LiveRegistry;
  readonly secrets: Secrets;
  /** The configuration that is in force, with the tools that need not ask. */
  readonly settings: SessionSettings;
  /** What `Session` takes, with who watches. */
  surroundings(watching: RunView): Surroundings;
  close(): Promise<void>;
}

export interface OpenWorkbench {
  readonly globals: Globals;
  readonly out: Output;
  /** Further `KEY=VALUE` overrides, from options of the command. */
  readonly overrides?: readonly string[];
  /** Plugins to start; all without it. */
  readonly only?: readonly string[];
  /** Tools that need not ask. */
  readonly approve?: readonly string[] | undefined;
  readonly interrupts?: Interrupts;
  /** The command that goes on for a while: others may reach it, and with `watch` it takes in changed plugins. */
  readonly reachable?: { readonly as: string; readonly watch: boolean };
}

export async function openWorkbench(options: OpenWorkbench): Promise<Workbench> {
  const { globals, out, overrides, only, interrupts } = options;
  const project = await projectOf(globals, overrides);
  await ensureTrust(project, globals, out, only);
  const secrets = new Secrets();
  out.guard(secrets);
  const sources = openSecrets(project.config, project.env, (name, value) => void secrets.add(name, value));
  const store = openStore(globals, secrets);
  const log = (plugin: string, level: string, message: string): void => {
    if (globals.debug || level === 'error' || level === 'warn')
      out.note(visible(`${plugin} ${level}: ${message}`));
  };
  // Ctrl-C stops the start. Later it is the session's: it ends what runs in order, and needs its plugins for that.
  const starting = new AbortController();
  const stop = (): void => starting.abort();
  interrupts?.signal.addEventListener('abort', stop);
  const start = startRegistry(project, {
    secrets: sources,
    log,
    signal: starting.signal,
    rests: restsIn(join(storeFolder(globals), 'plugins.json')),
    admit: (fresh, entry) => demandTrust(fresh, entry, globals),
    onStillLoading: (waiting) =>
      out.progress(visible(`still loading: ${waiting.map(loadingText).join(', ')}`)),
    ...(only === undefined ? {} : { only }),
  })
    .catch(async (error: unknown) => {
      await store.close();
      const record = (error as { data?: unknown }).data;
      throw typeof record === 'object' && record !== null && isUnavailable(record)
        ? refusalOf(record)
        : error;
    })
    .finally(() => interrupts?.signal.removeEventListener('abort', stop));
  const registry = await start;
  const around =
    options.reachable === undefined ? undefined : await reachable(registry, options.reachable, options);
  const close = async (): Promise<void> => {
    await around?.();
    await registry.close();
    await store.close();
  };
  try {
    if (interrupts?.signal.aborted === true)
      throw new ChassisError('Cancelled', 'cancelled before anything ran');
    const settings = settingsOf(project, registry, options.approve);
    return {
      project,
      store,
      registry,
      secrets,
      settings,
      surroundings: ({ event, chunk }) => ({
        store,
        registry,
        secrets,
        settings,
        approver: approver({ out, interrupt: () => interrupts?.interrupt(), registry, settings }),
        secret: async (name) => {
          const value = (await sources.configured(name)) ?? sources.variable(name);
          if (value === undefined) throw new ChassisError('Unauthorized', `the secret ${name} is not set`);
          return value;
        },
        onEvent: event,
        onChunk: chunk,
        onLog: (plugin, level, message) => log(plugin, level, message),
      }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the door for other commands, and watches the plugins' files. Returns what ends both. */
async function reachable(
  registry: LiveRegistry,
  { as, watch }: NonNullable<OpenWorkbench['reachable']>,
  { globals, out }: OpenWorkbench,
): Promise<() => Promise<void>> {
  const door = await serveControl(storeFolder(globals), registry, as).catch((error: Error) => {
    // Whoever cannot be reached can work all the same.
    out.note(visible(`chassis: plugins of this run cannot be reloaded from outside: ${error.message}`));
    return undefined;
  });
  const watching =
    watch || registry.project.config.plugins.watch
      ? await watchPlugins(registry, (plugin, outcome, text) => {
          const words = { reloaded: `reloaded ${plugin} ${text}`, unloaded: `took out ${plugin}: ${text}` };
          out.progress(visible(outcome === 'refused' ? `not taken in: ${text}` : words[outcome]));
        })
      : undefined;
  return async () => {
    await watching?.close();
    await door?.close();
  };
}

/** `orders (on_load > secret TOKEN)` */
function loadingText({ plugin, doing }: StillLoading): string {
  return doing === undefined ? plugin : `${plugin} (${doing})`;
}

/** A session is best gone on with where it began: that is where its plugins are. */
export function tellOtherProject(
  { project }: Pick<Workbench, 'project'>,
  { header }: SessionView,
  out: Output,
): void {
  if (header.project !== project.root)
    out.note(
      visible(`this session began in ${header.project}; it goes on with the plugins of ${project.root}`),
    );
}

/** What is not there, told once: a run goes on without it as long as it does not need it. */
export function tellProblems({ registry }: Pick<Workbench, 'registry'>, out: Output): void {
  for (const { capability, cause, fix } of registry.problems())
    out.progress(visible(`without ${capability}: ${cause.message.split('\n')[0]} (${fix})`));
}
