/** Sessions in single files: read into memory, so that looking at one changes nothing. */
import { readFileSync, statSync } from 'node:fs';
import { ChassisError } from '@chassis/errors';
import {
  checkingKey,
  importBundle,
  memoryStore,
  readBundleBatches,
  readBundleFile,
  type Store,
  type Verification,
  verifyBundle,
} from '@chassis/journal';
import { usage } from './failure.ts';

/** @throws InvalidParams when the file is not there, or no bundle, or a damaged one */
export async function readBundle(path: string): Promise<{ readonly store: Store; readonly id: string }> {
  const store = memoryStore();
  const { session } = await inFile(path, importBundle(store, batchesOf(path)));
  return { store, id: session };
}

/** @param key PEM file of who must have signed it */
export function verifyBundleFile(path: string, key?: string): Promise<Verification> {
  return verifyBundle(batchesOf(path), key === undefined ? undefined : checkingKey(keyFile('--key', key)));
}

/** @throws InvalidParams when there is no such file */
export function linesOf(path: string): AsyncIterable<string> {
  demandFile(path);
  return readBundleFile(path);
}

/** The same as bytes, many lines at once. @throws InvalidParams when there is no such file */
export function batchesOf(path: string): AsyncIterable<readonly Buffer[]> {
  demandFile(path);
  return readBundleBatches(path);
}

function demandFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw usage(`there is no file ${path}`);
  if (found.isDirectory()) throw usage(`${path} is a folder; give the path of a bundle in it`);
}

/** What is wrong with a line of a bundle is said with the file's name. */
export async function inFile<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ChassisError)) throw error;
    const { code, message, data } = error;
    if (typeof (data as { line?: unknown } | undefined)?.line !== 'number') throw error;
    throw new ChassisError(code, `${path}: ${message}`, {
      data: { ...(data as object), file: path },
      cause: error,
    });
  }
}

/** A key as it stands in its file. @throws InvalidParams when it cannot be read */
export function keyFile(flag: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw usage(
      `${flag} ${path}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message}`,
    );
  }
}
