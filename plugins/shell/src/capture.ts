/**
 * What a command changed in the workspace.
 *
 * Promise: a file, a link or a mode that is not as it was is found, with bytes, mode and link target before and after; links are
 * not followed, nothing outside of the folder is read. Contents are held from scan to scan within a budget: what is beyond it is
 * told as changed, but not kept. Folders by the names in `LEFT_OUT` are not looked at.
 */
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
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
  readonly stat: Stats;
  /** Undefined: too large to be held. */
  readonly content: Uint8Array | undefined;
  /** Whether a later change would show in its times. */
  readonly settled: boolean;
}

/** A folder's names, as long as nothing was made or removed in it. */
interface Listing {
  readonly stat: Stats;
  readonly settled: boolean;
  readonly folders: readonly string[];
  readonly others: readonly string[];
}

/** A file system's clock ticks every few milliseconds: two changes within a tick have the same time. */
const TICK_MS = 50;

/** The state of one workspace between commands. */
export class WorkspaceCapture {
  readonly #root: string;
  readonly #limits: CaptureLimits;
  #entries: ReadonlyMap<string, Entry> | undefined;
  #listings: ReadonlyMap<string, Listing> = new Map();
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
    const made = [...after.keys()].filter((path) => after.get(path) !== before.get(path));
    const gone = [...before.keys()].filter((path) => !after.has(path));
    return [...made, ...gone].sort().flatMap((path) => changeOf(path, before.get(path), after.get(path)));
  }

  #scan(): ReadonlyMap<string, Entry> | undefined {
    const found = new Map<string, Entry>();
    const listings = new Map<string, Listing>();
    const folders = [''];
    let held = 0;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const listing = this.#list(folder);
      if (listing === undefined) continue;
      listings.set(folder, listing);
      const inside = folder === '' ? '' : `${folder}/`;
      for (const name of listing.folders) folders.push(inside + name);
      if (found.size + listing.others.length > this.#limits.entries) return undefined;
      for (const name of listing.others) {
        const read = this.#read(inside + name, this.#limits.heldBytes - held);
        if (read === undefined) continue;
        held += read.content?.length ?? 0;
        found.set(inside + name, read);
      }
    }
    this.#listings = listings;
    return found;
  }

  /** Undefined when it is gone already, or cannot be read. */
  #list(folder: string): Listing | undefined {
    const place = `${this.#root}/${folder}`;
    try {
      const stat = lstatSync(place);
      const known = this.#listings.get(folder);
      if (known?.settled === true && same(known.stat, stat)) return known;
      const settled = isSettled(stat);
      const entries = readdirSync(place, { withFileTypes: true });
      const isLeftOut = (entry: Dirent) => entry.isDirectory() && LEFT_OUT.has(entry.name);
      return {
        stat,
        settled,
        folders: entries.filter((entry) => entry.isDirectory() && !isLeftOut(entry)).map(({ name }) => name),
        others: entries.filter((entry) => entry.isFile() || entry.isSymbolicLink()).map(({ name }) => name),
      };
    } catch {
      return undefined;
    }
  }

  /** Undefined when it is gone already, or cannot be read. */
  #read(path: string, budget: number): Entry | undefined {
    const place = `${this.#root}/${path}`;
    try {
      const stat = lstatSync(place);
      const known = this.#entries?.get(path);
      if (known?.settled === true && same(known.stat, stat)) return known;
      const settled = isSettled(stat);
      if (stat.isSymbolicLink()) return { stat, content: readlinkSync(place, 'buffer'), settled };
      if (!stat.isFile()) return undefined;
      if (stat.size > Math.min(this.#limits.fileBytes, budget)) return { stat, content: undefined, settled };
      return { stat, content: readFileSync(place), settled };
    } catch {
      return undefined;
    }
  }
}

function changeOf(path: string, before: Entry | undefined, after: Entry | undefined): FileChange[] {
  if (before !== undefined && after !== undefined && same(before.stat, after.stat) && !after.content)
    return [];
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
  return entry.content ?? { bytes: entry.stat.size };
}

function formOf(entry: Entry | undefined): FileForm | undefined {
  if (entry === undefined) return undefined;
  return entry.stat.isSymbolicLink() ? { link: true } : { mode: entry.stat.mode & 0o7777 };
}

/** `ctime` cannot be set back by a program that restores `mtime`. */
function same(a: Stats, b: Stats): boolean {
  return (
    a.ctimeMs === b.ctimeMs &&
    a.mtimeMs === b.mtimeMs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.mode === b.mode
  );
}

/** Asked before the content is read. */
function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > TICK_MS;
}
