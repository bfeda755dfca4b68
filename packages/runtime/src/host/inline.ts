/**
 * Plugins in the harness's own process: a module whose default export is a plugin.
 *
 * Promise: handlers are taken once, after `on_load` succeeded; what a failed plugin still does is not seen.
 * Nothing limits this code but the deadlines of its hooks: its permissions are declared, not enforced.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ChassisError, toChassisError } from '@chassis/errors';
import { issuesOf } from '@chassis/schema';
import { type Handlers, handlersOf, invokeContext, type Plugin, runHandler } from '@chassis/sdk';
import type { Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { Callbacks } from './callbacks.ts';
import {
  type HostOptions,
  type Offer,
  PhaseError,
  type PluginHost,
  type Readiness,
  readiness,
  within,
} from './host.ts';
import { offerOf } from './offer.ts';
import { asPlugin } from './own-process-guard.ts';
import { placeInStack, placeOfSyntax } from './stack-place.ts';

export function inlineHost(options: HostOptions): PluginHost {
  const { entry, log } = options;
  const { manifest } = entry.source;
  const { deadlines } = manifest;
  let plugin: Plugin | undefined;
  let handlers: Handlers | undefined;
  let closed = false;

  const open = async (): Promise<Offer> => {
    const module = manifest.module ?? '';
    if (!existsSync(join(entry.folder, module))) throw absentModule(entry, module);
    const exported = await options.span(`import of ${module}`, () =>
      asPlugin(entry.name, entry.folder, () => importPlugin(entry.folder, module, entry.digest)),
    );
    if (closed) throw new ChassisError('Cancelled', `${entry.name} was given up while it was loaded`);
    try {
      handlersOf(exported);
      const loading = exported as Plugin;
      await asPlugin(entry.name, entry.folder, () =>
        loading.on_load?.(options.config, {
          folder: entry.folder,
          project: options.project,
          log,
          secret: (name) => options.secret(name),
        }),
      );
      const taken = handlersOf(exported);
      plugin = loading;
      handlers = taken;
      if (closed) await late();
      return offerOf(entry.source, options.models, {
        tools: taken.tools.keys(),
        models: taken.models.keys(),
        agents: taken.agents.keys(),
        policies: taken.policies.keys(),
        shapes: taken.shapes,
      });
    } catch (error) {
      const place = placeInStack(error, entry.folder) ?? join(entry.folder, manifest.module ?? '');
      throw new PhaseError('on_load', toChassisError(error), fixOf(error, place));
    }
  };

  /** Loading came to an end after nobody waited for it any more: what it has opened is closed again. */
  const late = async (): Promise<void> => {
    log('warn', 'on_load ended after its deadline; it is shut down');
    await shutDown();
  };

  const shutDown = async (): Promise<void> => {
    const hook = handlers === undefined ? undefined : plugin?.on_shutdown?.bind(plugin);
    handlers = undefined;
    if (hook === undefined) return;
    try {
      await within(
        deadlines.on_shutdown_ms,
        'on_shutdown',
        Promise.resolve().then(() => asPlugin(entry.name, entry.folder, hook)),
      );
    } catch (error) {
      log('warn', `on_shutdown failed: ${toChassisError(error).message}`);
    }
  };

  return {
    gone: new Promise(() => {}),

    async load() {
      try {
        return await within(deadlines.on_load_ms, 'on_load', open());
      } catch (error) {
        if (error instanceof PhaseError) throw error;
        throw new PhaseError(
          'on_load',
          toChassisError(error),
          'make on_load faster, or raise deadlines.on_load_ms',
        );
      }
    },

    async ready(): Promise<Readiness> {
      if (plugin?.on_ready === undefined) return { ready: true };
      const asked = Promise.resolve().then(() =>
        asPlugin(entry.name, entry.folder, () => plugin?.on_ready?.()),
      );
      return readiness(await within(deadlines.on_ready_ms, 'on_ready', asked));
    },

    async invoke(invocation: Invocation): Promise<Result> {
      const { payload, ctx } = invocation;
      if (handlers === undefined) {
        throw new ChassisError('Unavailable', `plugin ${entry.name} is not loaded`);
      }
      // A model gets its request as it is: its text may be long, and exact numbers pass through to the provider.
      const exact = (): string => JSON.stringify(payload.input);
      const input: unknown = 'model' in payload ? payload.input : JSON.parse(exact());
      const taken = handlers;
      const calls = invokeContext(ctx, invocation, exact, new Callbacks(invocation, options));
      return asPlugin(entry.name, entry.folder, () => runHandler(taken, payload, input, calls, entry.folder));
    },

    async close() {
      closed = true;
      await shutDown();
    },
  };
}

function absentModule({ source, folder }: CatalogueEntry, module: string): PhaseError {
  const cause = new ChassisError('Unavailable', `${source.at('/module')}: there is no file ${module}`);
  return new PhaseError('spawn', cause, `write ${join(folder, module)}, or correct module in the manifest`);
}

/** An error may find fault with a place of a document: that is where to look, not the code that found it. */
function fixOf(error: unknown, place: string): string {
  const { file, line, column } = issuesOf(error)[0] ?? {};
  if (file === undefined) return `look at ${place}`;
  return `correct ${file}${line === undefined ? '' : `:${line}:${column ?? 1}`}`;
}

/** The digest in the address makes a changed module a new one; equal content is loaded once. */
async function importPlugin(folder: string, module: string, digest: string): Promise<unknown> {
  const path = join(folder, module);
  const url = pathToFileURL(path);
  url.searchParams.set('digest', digest.slice(0, 16));
  try {
    await import('./sdk-resolution.ts');
    const { default: plugin } = (await import(url.href)) as { default?: unknown };
    return plugin;
  } catch (error) {
    const syntax = error instanceof Error && error.name === 'SyntaxError';
    const place =
      placeInStack(error, folder) ?? (syntax ? await placeOfSyntax(path, folder) : undefined) ?? path;
    // Who imports it is no news, and not the author's code.
    const said = toChassisError(error).message.replace(
      ` imported from ${fileURLToPath(import.meta.url)}`,
      '',
    );
    const cause = new ChassisError('InternalError', `${place} cannot be loaded: ${said}`, { cause: error });
    const absent = /^Cannot find package '([^']+)'/.exec(said)?.[1];
    const advice = (toChassisError(error).data as { fix?: unknown } | undefined)?.fix;
    const fix =
      typeof advice === 'string'
        ? advice
        : absent === undefined
          ? `correct ${place}`
          : `install ${absent} in ${folder}: npm install ${absent}`;
    throw new PhaseError('spawn', cause, fix);
  }
}
