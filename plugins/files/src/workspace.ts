/**
 * Finds files and folders in the workspace, and holds on to what it found.
 *
 * Promise: nothing that this module returns is outside of the workspace, whatever links, `..` or `/proc` paths
 * the input uses, and what was checked is what is used: folders are entered one by one through open handles
 * that refuse links, so a link swapped in after the check is an error, not a way out.
 *
 * Entering through handles needs Linux's `/proc/self/fd`. Elsewhere each folder's real path is compared after
 * it was opened, which leaves a moment for somebody who can already write in the workspace.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileProblem, outside, refused, wrong } from './problem.ts';

const HANDLES = existsSync('/proc/self/fd');
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Where a path leads: `parts` below the real `root` are there and hold no link, `missing` are not there yet. */
export interface Found {
  /** As the caller wrote it, for messages. */
  readonly asked: string;
  readonly root: string;
  readonly parts: readonly string[];
  readonly missing: readonly string[];
}

/** A folder held open. */
export class Folder {
  readonly #handle: FileHandle;
  readonly #path: string;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** A path that names `child` in this very folder, even if the folder has been moved or replaced since. */
  at(child: string): string {
    return HANDLES ? `/proc/self/fd/${this.#handle.fd}/${child}` : join(this.#path, child);
  }

  /** The folder itself, for reading its entries. */
  get self(): string {
    return HANDLES ? `/proc/self/fd/${this.#handle.fd}` : this.#path;
  }

  /** Opens a folder inside this one; a link is refused. */
  async enter(child: string): Promise<Folder> {
    const path = join(this.#path, child);
    const handle = await open(this.at(child), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const folder = new Folder(handle, path);
    try {
      await folder.#stillThere(child);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return folder;
  }

  /** Opens a regular file of this folder for reading; links, devices and pipes are refused. */
  async file(child: string, asked: string): Promise<FileHandle> {
    const handle = await open(this.at(child), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = await handle.stat();
    if (stat.isFile()) return handle;
    await handle.close();
    if (stat.isDirectory()) throw wrong(asked, 'is a folder, not a file');
    throw refused(asked, 'is no regular file');
  }

  async #stillThere(asked: string): Promise<void> {
    const real = HANDLES ? await readlink(this.self) : await realpath(this.#path);
    if (real !== this.#path) throw refused(asked, `was moved while it was used (it is now ${real})`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/**
 * Resolves a path of the input without touching anything.
 *
 * @param path relative to the workspace, or absolute and inside of it
 * @throws PermissionDenied when it leads out of the workspace or through a dangling link
 */
export async function find(workspace: string, path: string): Promise<Found> {
  if (path === '' || path.includes('\0')) throw wrong(JSON.stringify(path), 'is no path');
  const root = await realpath(workspace).catch((error) => {
    throw fileProblem(workspace, error);
  });
  const parts = inside(workspace, root, path);
  let real: string[] = [];
  for (const [i, part] of parts.entries()) {
    const here = join(root, ...real, part);
    let link: boolean;
    try {
      link = (await lstat(here)).isSymbolicLink();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileProblem(path, error);
      return { asked: path, root, parts: real, missing: parts.slice(i) };
    }
    if (link) real = await through(root, here, path);
    else real.push(part);
  }
  return { asked: path, root, parts: real, missing: [] };
}

/** The parts of the path below the workspace, by its letters alone. */
function inside(workspace: string, root: string, path: string): string[] {
  const absolute = resolve(workspace, path);
  const bases = isAbsolute(path) ? [resolve(workspace), root] : [resolve(workspace)];
  for (const base of bases) {
    const parts = below(base, absolute);
    if (parts !== undefined) return parts;
  }
  throw outside(path, absolute);
}

/** Where a link leads, as parts below the root. */
async function through(root: string, link: string, asked: string): Promise<string[]> {
  let target: string;
  try {
    target = await realpath(link);
  } catch {
    const text = await readlink(link).catch(() => 'nowhere');
    throw outside(asked, `${text}, which is not there`);
  }
  const parts = below(root, target);
  if (parts === undefined) throw outside(asked, target);
  return parts;
}

function below(base: string, path: string): string[] | undefined {
  const parts = relative(base, path).split(sep);
  if (parts[0] === '..' || isAbsolute(parts[0] ?? '')) return undefined;
  return parts.filter((part) => part !== '');
}

/** Opens the workspace's real folder and walks down to `parts`. */
export async function enter(root: string, parts: readonly string[]): Promise<Folder> {
  let folder = new Folder(await open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), root);
  for (const part of parts) {
    const outer = folder;
    try {
      folder = await outer.enter(part);
    } finally {
      await outer[Symbol.asyncDispose]();
    }
  }
  return folder;
}

/** Opens the folder that a file is to be written in, creating what is missing, and gives the file's name. */
export async function enterForWriting(found: Found): Promise<{ folder: Folder; name: string }> {
  const all = [...found.parts, ...found.missing];
  const name = all.at(-1);
  if (name === undefined) throw wrong(found.asked, 'is a folder, not a file');
  // The record of the runs lives there; a run must not be able to rewrite its own record.
  if (all.some((part) => part.toLowerCase() === '.chassis')) {
    throw refused(
      found.asked,
      'the folder .chassis holds the record of the runs and is not written by tools',
    );
  }
  let folder = await enter(found.root, found.parts.slice(0, all.length - 1));
  for (const part of found.missing.slice(0, -1)) {
    const outer = folder;
    try {
      await mkdir(outer.at(part)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      folder = await outer.enter(part);
    } finally {
      await outer[Symbol.asyncDispose]();
    }
  }
  return { folder, name };
}

/** Opens a file that must be there, for reading; `shown` is its path in results. */
export async function openForReading(
  workspace: string,
  path: string,
): Promise<{ file: FileHandle; shown: string }> {
  const found = await find(workspace, path);
  if (found.missing.length > 0) throw wrong(path, 'no such file');
  const name = found.parts.at(-1);
  if (name === undefined) throw wrong(path, 'is a folder, not a file');
  try {
    await using folder = await enter(found.root, found.parts.slice(0, -1));
    return { file: await folder.file(name, path), shown: shownPath(found.parts) };
  } catch (error) {
    throw fileProblem(path, error);
  }
}

/** The path as results show it: relative to the workspace, `/` as separator, `.` for the workspace itself. */
export function shownPath(parts: readonly string[]): string {
  return parts.length === 0 ? '.' : parts.join('/');
}
