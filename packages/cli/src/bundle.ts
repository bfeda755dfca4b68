/** Sessions in single files: read into memory, so that looking at one changes nothing. */
import { existsSync, readFileSync } from 'node:fs';
import {
  checkingKey,
  importBundle,
  memoryStore,
  readBundleFile,
  type Store,
  type Verification,
  verifyBundle,
} from '@chassis/journal';
import { usage } from './failure.ts';

/** @throws InvalidParams when the file is not there, or no bundle, or a damaged one */
export async function readBundle(path: string): Promise<{ readonly store: Store; readonly id: string }> {
  const store = memoryStore();
  return { store, id: await importBundle(store, linesOf(path)) };
}

/** @param key PEM file of who must have signed it */
export function verifyBundleFile(path: string, key?: string): Promise<Verification> {
  return verifyBundle(linesOf(path), key === undefined ? undefined : checkingKey(readFileSync(key)));
}

export function linesOf(path: string): AsyncIterable<string> {
  if (!existsSync(path)) throw usage(`there is no file ${path}`);
  return readBundleFile(path);
}
