/** Sessions in single files: read into memory, so that looking at one changes nothing. */
import { existsSync } from 'node:fs';
import {
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

export function verifyBundleFile(path: string): Promise<Verification> {
  return verifyBundle(linesOf(path));
}

export function linesOf(path: string): AsyncIterable<string> {
  if (!existsSync(path)) throw usage(`there is no file ${path}`);
  return readBundleFile(path);
}
