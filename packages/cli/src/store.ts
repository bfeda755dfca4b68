/** The store of sessions that a command works on: the folder that was given, else `.chassis` of the project. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileStore, Secrets, type Store } from '@chassis/journal';
import { findRoot } from '@chassis/runtime/project';
import { usage } from './failure.ts';
import type { Globals } from './reference/spec.ts';

export function storeFolder({ store, cwd }: Pick<Globals, 'store' | 'cwd'>): string {
  return store ?? join(findRoot(cwd).root, '.chassis');
}

/** For commands that only look: what is on record has no secrets in it any more. */
export function openStore(globals: Pick<Globals, 'store' | 'cwd'>, secrets = new Secrets()): Store {
  return fileStore({ root: storeFolder(globals), secrets });
}

/** The same for a command that looks for something: a folder that was named and is not there holds nothing to look at. */
export function existingStore(globals: Pick<Globals, 'store' | 'cwd'>): Store {
  if (globals.store !== undefined && !existsSync(globals.store))
    throw usage(`--store: there is no folder ${globals.store}`);
  return openStore(globals);
}
