/**
 * Files put back as they were at a step.
 *
 * Promise: only paths on record are touched, and none of them outside of the folder: not through `..`, not through a link;
 * bytes are exact; a file keeps its mode, and everything else in the folder stays as it is. What cannot be restored is named.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { cp, lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { SessionView, Store } from '@chassis/journal';
import { type FileAt, filesAt, KEYED } from './files-at.ts';

export interface Restored {
  readonly folder: string;
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Had the content already. */
  readonly unchanged: readonly string[];
  readonly refused: readonly Refused[];
}

export interface Refused {
  readonly path: string;
  readonly why: string;
}

/** A copy of a workspace, without what Chassis keeps there. Modes, times and links stay; links are not followed. */
export async function copyWorkspace(from: string, to: string): Promise<void> {
  const source = await realpath(from);
  await mkdir(dirname(to), { recursive: true });
  const target = join(await realpath(dirname(to)), to.slice(dirname(to).length + 1));
  const kept = join(source, '.chassis');
  if (target === source || (target.startsWith(source + sep) && !target.startsWith(kept + sep)))
    throw new ChassisError(
      'InvalidParams',
      `${to} is inside of the workspace ${from}: choose a folder beside it`,
    );
  if (await isThere(target))
    throw new ChassisError('Conflict', `${to} is there already: choose a folder that is not`);
  // A folder cannot be copied into itself, so what Chassis keeps there is left out entry by entry.
  await mkdir(target, { mode: (await lstat(source)).mode });
  for (const name of await readdir(source)) {
    if (name === '.chassis') continue;
    await cp(join(source, name), join(target, name), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }
}

/** Brings the recorded paths of a folder to the state after a step. */
export async function restoreFiles(
  view: SessionView,
  at: number,
  store: Pick<Store, 'blob'>,
  folder: string,
): Promise<Restored> {
  const written: string[] = [];
  const deleted: string[] = [];
  const unchanged: string[] = [];
  const refused: Refused[] = [];
  for (const file of filesAt(view, at)) {
    try {
      const change = await restoreFile(file, store, folder);
      (change === 'written' ? written : change === 'deleted' ? deleted : unchanged).push(file.path);
    } catch (thrown) {
      refused.push({ path: file.path, why: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }
  return { folder, written, deleted, unchanged, refused };
}

async function restoreFile(
  { path, content }: FileAt,
  store: Pick<Store, 'blob'>,
  folder: string,
): Promise<'written' | 'deleted' | 'unchanged'> {
  const target = await placeOf(folder, path);
  const stat = await lstat(target).catch(() => undefined);
  if (stat?.isSymbolicLink()) throw new Error('a link stands there now; it is not followed');
  if (stat?.isDirectory()) throw new Error('a folder stands there now');
  if (content === null) {
    if (stat === undefined) return 'unchanged';
    await rm(target);
    return 'deleted';
  }
  if (content.startsWith(KEYED))
    throw new Error('its content held a secret, so it was not kept and cannot be restored');
  const bytes = await store.blob(content);
  if (bytes === undefined) throw new Error('its content is not in the store any more');
  if (stat !== undefined && hashOf(await readFile(target)) === content) return 'unchanged';
  await mkdir(dirname(target), { recursive: true });
  // Written aside and renamed: a reader sees the old file or the new one, never a part.
  const aside = `${target}.${process.pid}.restoring`;
  const file = await open(aside, 'wx', stat === undefined ? 0o666 : stat.mode & 0o7777);
  try {
    await file.writeFile(bytes);
    if (stat !== undefined) await file.chmod(stat.mode & 0o7777);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, target);
  return 'written';
}

/** Copies what stands at the recorded paths now, before it is changed. @returns the paths copied */
export async function captureFiles(
  view: SessionView,
  folder: string,
  to: string,
): Promise<readonly string[]> {
  const captured: string[] = [];
  for (const { path } of filesAt(view, view.steps.length)) {
    const source = await placeOf(folder, path).catch(() => undefined);
    if (source === undefined || !(await isThere(source))) continue;
    const target = join(to, path);
    await mkdir(dirname(target), { recursive: true });
    await cp(source, target, { verbatimSymlinks: true, preserveTimestamps: true, recursive: true });
    captured.push(path);
  }
  return captured;
}

export interface Changed {
  readonly path: string;
  /** Content hash on record, and the one now; null where there is no file. */
  readonly recorded: string | null;
  readonly now: string | null;
}

/** Files whose present content is not the one that the record's last step left: somebody else changed them since. */
export async function changedSince(view: SessionView, folder: string): Promise<readonly Changed[]> {
  const changed: Changed[] = [];
  for (const { path, content } of filesAt(view, view.steps.length)) {
    const target = await placeOf(folder, path).catch(() => undefined);
    const bytes = target === undefined ? undefined : await readFile(target).catch(() => undefined);
    const now = bytes === undefined ? null : hashOf(bytes);
    if (now !== content) changed.push({ path, recorded: content, now });
  }
  return changed;
}

/** The place of a recorded path. @throws when it leads out of the folder */
async function placeOf(folder: string, path: string): Promise<string> {
  const root = await realpath(folder);
  const target = resolve(root, path);
  const inside = relative(root, target);
  if (path === '' || inside === '' || inside.startsWith('..') || path.startsWith('/') || path.includes('\0'))
    throw new Error('the path leads out of the workspace');
  // Every folder on the way that is there must be a real one.
  let at = root;
  for (const part of inside.split(sep).slice(0, -1)) {
    at = join(at, part);
    const stat = await lstat(at).catch(() => undefined);
    if (stat === undefined) break;
    if (stat.isSymbolicLink()) throw new Error(`${relative(root, at)} is a link; it is not followed`);
  }
  return target;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
