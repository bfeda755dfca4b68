/**
 * Files put back as they were at a step.
 *
 * Promise: only paths on record are touched, and none of them outside of the folder: not through `..`, not through a link;
 * bytes are exact, modes and links are those on record (a file whose mode was not told keeps the one it has), and everything
 * else in the folder stays as it is. What cannot be restored is named.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { SessionView, Store } from '@chassis/journal';
import { type FileAt, filesAt, KEYED, UNKEPT } from './files-at.ts';

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
  { path, content, form, linked }: FileAt,
  store: Pick<Store, 'blob'>,
  folder: string,
): Promise<'written' | 'deleted' | 'unchanged'> {
  const target = await placeOf(folder, path);
  const stat = await lstat(target).catch(() => undefined);
  if (stat?.isDirectory()) throw new Error('a folder stands there now');
  // A link that the record does not tell of was put there by somebody else.
  if (stat?.isSymbolicLink() && !linked) throw new Error('a link stands there now; it is not followed');
  if (content === null) {
    if (stat === undefined) return 'unchanged';
    await rm(target);
    return 'deleted';
  }
  if (content.startsWith(KEYED))
    throw new Error('its content held a secret, so it was not kept and cannot be restored');
  if (content.startsWith(UNKEPT))
    throw new Error(
      `its content was too large to be kept (${content.slice(UNKEPT.length)} bytes) and cannot be restored`,
    );
  const bytes = await store.blob(content);
  if (bytes === undefined) throw new Error('its content is not in the store any more');
  const regular = stat?.isFile() === true ? stat : undefined;
  const mode = form?.mode ?? (regular === undefined ? undefined : regular.mode & 0o7777);
  const now = await contentAt(target);
  const asWanted = form?.link === true ? now?.link === true : now?.link === false;
  if (asWanted && now !== undefined && hashOf(now.bytes) === content) {
    if (regular === undefined || mode === (regular.mode & 0o7777)) return 'unchanged';
    await chmod(target, mode ?? regular.mode);
    return 'written';
  }
  await mkdir(dirname(target), { recursive: true });
  // Made aside and renamed: a reader sees the old file or the new one, never a part; a link is replaced, not followed.
  const aside = `${target}.${process.pid}.restoring`;
  if (form?.link === true) await symlink(Buffer.from(bytes), aside);
  else await writeAside(aside, bytes, mode);
  await rename(aside, target);
  return 'written';
}

async function writeAside(aside: string, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  const file = await open(aside, 'wx', mode ?? 0o666);
  try {
    await file.writeFile(bytes);
    if (mode !== undefined) await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The bytes of a file, or the target of a link; undefined where neither is. */
async function contentAt(path: string): Promise<{ bytes: Uint8Array; link: boolean } | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isSymbolicLink()) return { bytes: await readlink(path, 'buffer'), link: true };
  return stat?.isFile() ? { bytes: await readFile(path), link: false } : undefined;
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
    // A content that was not kept has nothing to compare with.
    if (content?.startsWith(UNKEPT)) continue;
    const target = await placeOf(folder, path).catch(() => undefined);
    const there = target === undefined ? undefined : await contentAt(target).catch(() => undefined);
    const now = there === undefined ? null : hashOf(there.bytes);
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
