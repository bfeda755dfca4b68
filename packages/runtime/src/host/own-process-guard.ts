/**
 * Keeps code that shares our process from ending it.
 *
 * Promise: `process.exit` inside a plugin's module, handler or hook is an error of that plugin; what a plugin throws where nobody waits
 * is told apart from our own failures by its stack.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ChassisError } from '@chassis/errors';
import { placeInStack } from './stack-place.ts';

const running = new AsyncLocalStorage<string>();
/** Folders of the plugins that have been loaded into this process, by name. */
const folders = new Map<string, string>();
let guarded = false;

/** Runs a plugin's code; everything that it starts belongs to it. */
export function asPlugin<T>(name: string, folder: string, work: () => T): T {
  folders.set(name, folder);
  if (!guarded) guardExit();
  return running.run(name, work);
}

/** The plugin whose code an error comes from, and the place in it; undefined when it is none's. */
export function pluginAtFault(
  error: unknown,
): { readonly plugin: string; readonly place: string } | undefined {
  for (const [plugin, folder] of folders) {
    const place = placeInStack(error, folder);
    if (place !== undefined) return { plugin, place };
  }
  return undefined;
}

function guardExit(): void {
  guarded = true;
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    // A module's own code runs where nothing follows it; its stack tells.
    const plugin = running.getStore() ?? pluginAtFault(new Error('exit'))?.plugin;
    if (plugin === undefined) return exit(code);
    throw new ChassisError(
      'InternalError',
      `plugin ${plugin} called process.exit(${code ?? ''}) inside the harness`,
      {
        data: { fix: 'throw an error instead, or run the plugin as a process of its own' },
      },
    );
  };
}
