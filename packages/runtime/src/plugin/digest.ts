/**
 * The content hash of a plugin's folder: what trust is given to and what the record names.
 *
 * SHA-256 over the sorted relative paths with the SHA-256 of each file, leaving out `node_modules` and
 * `__pycache__`. A link counts as the text of its target and is never followed.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

const LEFT_OUT = new Set(['node_modules', '__pycache__']);
const AT_ONCE = 1024 * 1024;
/** Files up to this are read at once: a stream and its buffer take many times as long as the read. */
const SMALL = 64 * 1024;
const OPEN_FILES = 32;

export async function contentDigest(folder: string): Promise<string> {
  const files: string[] = [];
  collect(folder, '', files);
  files.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const hash = createHash('sha256');
  // A few at a time: a folder may hold more files than a process may open.
  for (let i = 0; i < files.length; i += OPEN_FILES) {
    const lines = await Promise.all(files.slice(i, i + OPEN_FILES).map((path) => entry(folder, path)));
    for (const line of lines) hash.update(line);
    // A folder of thousands must not hold up what else goes on.
    if (i + OPEN_FILES < files.length) await setImmediate();
  }
  return hash.digest('hex');
}

function collect(folder: string, under: string, files: string[]): void {
  for (const item of readdirSync(join(folder, under), { withFileTypes: true })) {
    if (LEFT_OUT.has(item.name)) continue;
    const path = under === '' ? item.name : `${under}/${item.name}`;
    if (item.isDirectory()) collect(folder, path, files);
    else if (item.isFile() || item.isSymbolicLink()) files.push(item.isFile() ? path : `${path}\0link`);
  }
}

async function entry(folder: string, path: string): Promise<string> {
  const [name = '', link] = path.split('\0');
  const file = join(folder, name);
  const content = createHash('sha256');
  if (link !== undefined) content.update(readlinkSync(file));
  else if (statSync(file).size <= SMALL) content.update(readFileSync(file));
  else {
    const bytes = createReadStream(file, { highWaterMark: AT_ONCE });
    for await (const piece of bytes) content.update(piece as Uint8Array);
  }
  return `${name}\0${link ?? 'file'}\0${content.digest('hex')}\n`;
}
