/**
 * Everything below a folder of the workspace, sorted, without following a link.
 *
 * Promise: the order depends on the names alone; folders are entered through open handles; a tree of any size
 * costs the memory of one path of folders.
 */
import { lstat, readdir } from 'node:fs/promises';
import picomatch from 'picomatch';
import { wrong } from './problem.ts';
import { enter, type Folder, find } from './workspace.ts';

/** Left out unless `all` is asked for. */
const SKIPPED = new Set(['.git', 'node_modules', '.chassis']);

export interface Entry {
  /** The folder that holds it, open while the entry is being looked at. */
  readonly folder: Folder;
  readonly name: string;
  /** Relative to the workspace. */
  readonly path: string;
  /** Relative to where the walk began. */
  readonly below: string;
  readonly type: 'file' | 'folder' | 'link' | 'other';
  readonly bytes: number;
}

export interface WalkOptions {
  readonly all: boolean;
  /** Into folders too, or the first level only. */
  readonly deep: boolean;
  readonly signal: AbortSignal;
}

/** @param start a folder, or a file, which is then the only entry */
export async function* walk(workspace: string, start: string, options: WalkOptions): AsyncGenerator<Entry> {
  const found = await find(workspace, start);
  if (found.missing.length > 0) throw wrong(start, 'no such file or folder');
  const name = found.parts.at(-1);
  if (name !== undefined) {
    await using outer = await enter(found.root, found.parts.slice(0, -1));
    const entry = await entryOf(outer, name, found.parts.slice(0, -1), []);
    if (entry !== undefined && entry.type !== 'folder') {
      yield entry;
      return;
    }
  }
  await using folder = await enter(found.root, found.parts);
  yield* inside(folder, found.parts, [], options);
}

async function* inside(
  folder: Folder,
  parts: readonly string[],
  below: readonly string[],
  options: WalkOptions,
): AsyncGenerator<Entry> {
  const names = await readdir(folder.self);
  for (const name of names.toSorted(byUnits)) {
    options.signal.throwIfAborted();
    if (!options.all && SKIPPED.has(name)) continue;
    const entry = await entryOf(folder, name, parts, below);
    if (entry === undefined) continue;
    yield entry;
    if (entry.type !== 'folder' || !options.deep) continue;
    // Gone, unreadable, moved or swapped for a link since it was listed: nothing below it to show.
    const child = await folder.enter(name).catch(() => undefined);
    if (child === undefined) continue;
    await using open = child;
    yield* inside(open, [...parts, name], [...below, name], options);
  }
}

async function entryOf(
  folder: Folder,
  name: string,
  parts: readonly string[],
  below: readonly string[],
): Promise<Entry | undefined> {
  const stat = await lstat(folder.at(name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stat === undefined) return undefined;
  const type = stat.isFile()
    ? 'file'
    : stat.isDirectory()
      ? 'folder'
      : stat.isSymbolicLink()
        ? 'link'
        : 'other';
  return {
    folder,
    name,
    path: [...parts, name].join('/'),
    below: [...below, name].join('/'),
    type,
    bytes: stat.size,
  };
}

function byUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A test for paths; dot files match like any other. */
export function globTest(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  return picomatch(glob, { dot: true });
}
