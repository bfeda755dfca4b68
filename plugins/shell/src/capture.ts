/**
 * What a command changed in the workspace.
 *
 * Promise: a file, a link or a mode that is not as it was is found, with bytes, mode and link target before and after; links are
 * not followed, nothing outside of the folder is read. Contents are held from scan to scan within a budget: what is beyond it is
 * told as changed, but not kept. Folders by the names in `LEFT_OUT` are not looked at.
 */
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileChange } from '@chassis/sdk';
import type { FileForm } from '@chassis/types';

/** Kept by others, or made from what is captured. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.chassis', '.git', 'node_modules', '__pycache__']);

export interface CaptureLimits {
  /** A workspace with more entries is not captured at all. */
  readonly entries: number;
  /** Largest content that is kept, in bytes, and the most that are held at once. */
  readonly fileBytes: number;
  readonly heldBytes: number;
}

export const CAPTURE_LIMITS: CaptureLimits = {
  entries: 20_000,
  fileBytes: 4 * 1024 * 1024,
  heldBytes: 64 * 1024 * 1024,
};

interface Entry {
  readonly stat: BigIntStats;
  /** Undefined: too large to be held. */
  readonly content: Uint8Array | undefined;
}

/** The state of one workspace between commands. */
export class WorkspaceCapture {
  readonly #root: string;
  readonly #limits: CaptureLimits;
  #entries: ReadonlyMap<string, Entry> | undefined;
  #running = 0;

  /** @param root absolute path */
  constructor(root: string, limits: CaptureLimits = CAPTURE_LIMITS) {
    this.#root = root;
    this.#limits = limits;
  }

  /**
   * Call it before a command; what somebody else changed since the last one is taken as given.
   *
   * @returns false if the workspace has too many entries to be captured
   */
  begin(): boolean {
    // While another command runs, what is new may be its doing: it is for `end` to tell.
    if (this.#running === 0) this.#entries = this.#scan();
    this.#running++;
    return this.#entries !== undefined;
  }

  /** Call it once after each `begin`. @returns the changes since, each told once also when commands run side by side; sorted by path */
  end(): FileChange[] {
    this.#running--;
    const before = this.#entries;
    const after = before === undefined ? undefined : this.#scan();
    if (before === undefined || after === undefined) return [];
    this.#entries = after;
    const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
    return paths.flatMap((path) => changeOf(path, before.get(path), after.get(path)));
  }

  #scan(): ReadonlyMap<string, Entry> | undefined {
    const found = new Map<string, Entry>();
    const folders = [''];
    let held = 0;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of listed(join(this.#root, folder))) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) {
          if (!LEFT_OUT.has(entry.name)) folders.push(path);
          continue;
        }
        if (!entry.isFile() && !entry.isSymbolicLink()) continue;
        if (found.size >= this.#limits.entries) return undefined;
        const read = this.#read(path, this.#limits.heldBytes - held);
        if (read === undefined) continue;
        held += read.content?.length ?? 0;
        found.set(path, read);
      }
    }
    return found;
  }

  /** Undefined when it is gone already, or cannot be read. */
  #read(path: string, budget: number): Entry | undefined {
    const place = join(this.#root, path);
    try {
      const stat = lstatSync(place, { bigint: true });
      const known = this.#entries?.get(path);
      if (known !== undefined && same(known.stat, stat)) return known;
      if (stat.isSymbolicLink()) return { stat, content: readlinkSync(place, 'buffer') };
      if (stat.size > BigInt(Math.min(this.#limits.fileBytes, budget))) return { stat, content: undefined };
      return { stat, content: readFileSync(place) };
    } catch {
      return undefined;
    }
  }
}

function changeOf(path: string, before: Entry | undefined, after: Entry | undefined): FileChange[] {
  if (before === after) return [];
  const [was, is] = [contentOf(before), contentOf(after)];
  const [wasForm, isForm] = [formOf(before), formOf(after)];
  const sameForm = wasForm?.mode === isForm?.mode && wasForm?.link === isForm?.link;
  if (sameForm && was instanceof Uint8Array && is instanceof Uint8Array && Buffer.compare(was, is) === 0)
    return [];
  return [
    {
      kind: 'file',
      path,
      before: was,
      after: is,
      ...(wasForm === undefined ? {} : { before_form: wasForm }),
      ...(isForm === undefined ? {} : { after_form: isForm }),
    },
  ];
}

function contentOf(entry: Entry | undefined): FileChange['before'] {
  if (entry === undefined) return null;
  return entry.content ?? { bytes: Number(entry.stat.size) };
}

function formOf(entry: Entry | undefined): FileForm | undefined {
  if (entry === undefined) return undefined;
  return entry.stat.isSymbolicLink() ? { link: true } : { mode: Number(entry.stat.mode & 0o7777n) };
}

/** `ctime` cannot be set back by a program that restores `mtime`. */
function same(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.ctimeNs === b.ctimeNs &&
    a.mtimeNs === b.mtimeNs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.mode === b.mode
  );
}

function listed(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
