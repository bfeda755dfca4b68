/**
 * `write_file` and `edit_file`.
 *
 * Promise: a file is replaced in one step or not at all, keeps its mode, and is not replaced when somebody else
 * changed it in between; contents before and after are declared as the effect.
 */
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { ChassisError } from '@chassis/errors';
import type { InvokeContext } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { fileProblem, outside, refused, wrong } from './problem.ts';
import { occurrences, replaceAll } from './replace.ts';
import { decodeText } from './text.ts';
import { enterForWriting, type Folder, find, shownPath } from './workspace.ts';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** An edit reads the whole file as text. */
const MAX_EDIT_BYTES = 32 * 1024 * 1024;

export interface WriteInput {
  readonly path: string;
  readonly content: string;
}

export interface EditInput {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

export async function writeFile(input: WriteInput, ctx: InvokeContext): Promise<JsonObject> {
  const after = Buffer.from(input.content, 'utf8');
  return change(input.path, ctx, (before) => ({
    after,
    output: {
      created: before === null,
      changed: before === null || !after.equals(before),
      bytes: after.length,
    },
  }));
}

export async function editFile(input: EditInput, ctx: InvokeContext): Promise<JsonObject> {
  return change(input.path, ctx, (before) => {
    if (before === null) throw wrong(input.path, 'no such file; write_file creates one');
    const { text, lines } = edited(input, before);
    const after = Buffer.from(text, 'utf8');
    return { after, output: { replacements: lines.length, lines, bytes: after.length } };
  });
}

function edited(input: EditInput, before: Buffer): ReturnType<typeof replaceAll> {
  const { path, old_text: wanted, new_text: replacement } = input;
  if (wanted === '') throw wrong(path, 'old_text is empty; write_file writes a whole file');
  if (before.length > MAX_EDIT_BYTES) throw wrong(path, `is larger than ${MAX_EDIT_BYTES} bytes`);
  const text = decodeText(before);
  if (text === undefined) throw wrong(path, 'is no UTF-8 text, so it cannot be edited as text');
  const lines = occurrences(text, wanted);
  if (lines.length === 0) throw wrong(path, notFound(text, wanted));
  if (lines.length > 1 && input.replace_all !== true) {
    throw wrong(
      path,
      `old_text occurs ${lines.length} times, on lines ${listed(lines)}; give more of the text around it, or replace_all`,
      { lines: lines.slice(0, 100) },
    );
  }
  const result = replaceAll(text, wanted, replacement);
  if (result.text === text) throw wrong(path, 'new_text is the same as old_text; nothing would change');
  return result;
}

function listed(lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ');
  return lines.length > 10 ? `${shown}, …` : shown;
}

/** Says where the first line of the wanted text stands with other white space, if it does. */
function notFound(text: string, wanted: string): string {
  const first = wanted
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  const at = first === undefined ? -1 : text.split('\n').findIndex((line) => line.trim() === first);
  if (at < 0) return 'old_text does not occur in the file';
  return `old_text does not occur in the file; line ${at + 1} is like its first line, so compare white space and what follows`;
}

type Plan = (before: Buffer | null) => { readonly after: Buffer; readonly output: JsonObject };

async function change(path: string, ctx: InvokeContext, plan: Plan): Promise<JsonObject> {
  try {
    const found = await find(ctx.workspace, path);
    const shown = shownPath([...found.parts, ...found.missing]);
    // An edit of a missing file must not leave the folders of its path behind.
    if (found.missing.length > 0) plan(null);
    const { folder: entered, name } = await enterForWriting(found);
    await using folder = entered;
    const before = found.missing.length > 0 ? null : await contents(folder, name, path);
    const { after, output } = plan(before?.bytes ?? null);
    if (before === null || !after.equals(before.bytes)) {
      ctx.signal.throwIfAborted();
      await replace(folder, name, path, after, before?.stat ?? null);
      ctx.effect({ kind: 'file', path: shown, before: before?.bytes ?? null, after });
    }
    return { path: shown, ...output };
  } catch (error) {
    throw fileProblem(path, error);
  }
}

async function contents(
  folder: Folder,
  name: string,
  asked: string,
): Promise<{ bytes: Buffer; stat: BigIntStats }> {
  await using file = await folder.file(name, asked);
  const stat = await file.stat({ bigint: true });
  return { bytes: await file.readFile(), stat };
}

/** Writes beside the file and renames: a reader sees the old file or the new one, and a link is never followed. */
async function replace(
  folder: Folder,
  name: string,
  asked: string,
  bytes: Buffer,
  before: BigIntStats | null,
): Promise<void> {
  const temporary = folder.at(`.${crypto.randomUUID()}.chassis-tmp`);
  try {
    {
      await using file = await open(
        temporary,
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
        before === null ? 0o666 : 0o600,
      );
      await file.writeFile(bytes);
      if (before !== null) {
        const { uid, gid } = await file.stat({ bigint: true });
        // Only root may give a file away; anybody else who writes here owns the new file.
        if (uid !== before.uid || gid !== before.gid) {
          await file.chown(Number(before.uid), Number(before.gid)).catch(() => {});
        }
        await file.chmod(Number(before.mode & 0o7777n));
      }
      await file.datasync();
    }
    await unchangedSince(folder, name, asked, before);
    await rename(temporary, folder.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

async function unchangedSince(
  folder: Folder,
  name: string,
  asked: string,
  before: BigIntStats | null,
): Promise<void> {
  const now = await lstat(folder.at(name), { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (now?.isSymbolicLink()) throw outside(asked, 'a link that was put there while it was written');
  if (now !== null && !now.isFile()) throw refused(asked, 'is no regular file');
  const same =
    now === null || before === null
      ? now === before
      : now.ino === before.ino && now.size === before.size && now.mtimeNs === before.mtimeNs;
  if (!same) {
    throw new ChassisError('Conflict', `${asked}: somebody else changed the file meanwhile; read it again`, {
      data: { path: asked },
    });
  }
}
