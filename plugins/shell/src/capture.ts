/**
 * What a command changed in the workspace.
 *
 * Promise: a file, a link or a mode that is not as it was is found, with bytes, mode and link target before and after; links are
 * not followed, nothing outside of the folder is read. Contents are held from scan to scan within a budget: what is beyond it is
 * told as changed, but not kept. Folders by the names in `LEFT_OUT` are not looked at.
 */
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
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
  readonly stat: Stats;
  /** Undefined: too large to be held. */
  readonly content: Uint8Array | undefined;
  /** Whether a later change would show in its times. */
  readonly settled: boolean;
}

interface File {
  /** In the workspace. */
  readonly path: string;
  /** On the disk: put together once, for it is asked about at every scan. */
  readonly place: string;
  /** Undefined: it is gone already, or cannot be read. */
  readonly entry: Entry | undefined;
}

/** A folder as a scan found it. While nothing in it changes, scans give out the same object. */
interface Folder {
  readonly place: string;
  /** Its names are known as long as nothing was made or removed in it. */
  readonly stat: Stats;
  readonly settled: boolean;
  /** Paths of the folders in it. */
  readonly folders: readonly string[];
  readonly files: readonly File[];
  /** Bytes of content that are held. */
  readonly held: number;
}

type State = ReadonlyMap<string, Folder>;

/** A file system's clock ticks every few milliseconds: two changes within a tick have the same time. */
const TICK_MS = 50;

/** The state of one workspace between commands. */
export class WorkspaceCapture {
  readonly #root: string;
  readonly #limits: CaptureLimits;
  /** What the next command is measured by. */
  #before: State | undefined;
  /** The latest scan, for what need not be read again. */
  #known: State = new Map();
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
    if (this.#running === 0) this.#before = this.#scan();
    this.#running++;
    return this.#before !== undefined;
  }

  /** Call it once after each `begin`. @returns the changes since, each told once also when commands run side by side; sorted by path */
  end(): FileChange[] {
    this.#running--;
    const before = this.#before;
    const after = before === undefined ? undefined : this.#scan();
    if (before === undefined || after === undefined) return [];
    this.#before = after;
    const paths = [...before.keys(), ...[...after.keys()].filter((path) => !before.has(path))];
    const was = new Map<string, Entry>();
    const is = new Map<string, Entry>();
    for (const path of paths.filter((path) => before.get(path) !== after.get(path))) {
      addFiles(was, before.get(path));
      addFiles(is, after.get(path));
    }
    const changed = [...is.keys()].filter((path) => is.get(path) !== was.get(path));
    const gone = [...was.keys()].filter((path) => !is.has(path));
    return [...changed, ...gone].sort().flatMap((path) => changeOf(path, was.get(path), is.get(path)));
  }

  #scan(): State | undefined {
    const found = new Map<string, Folder>();
    const folders = [''];
    let count = 0;
    let held = 0;
    for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
      const folder = this.#folder(path, count, held);
      if (folder === undefined) continue;
      if (folder === 'too many') return undefined;
      found.set(path, folder);
      for (const inside of folder.folders) folders.push(inside);
      count += folder.files.length;
      held += folder.held;
    }
    this.#known = found;
    return found;
  }

  /**
   * Undefined when it is gone already, or cannot be read.
   * @param count files that were found before it
   * @param before bytes of content that are held already
   */
  #folder(path: string, count: number, before: number): Folder | 'too many' | undefined {
    const known = this.#known.get(path);
    const place = known?.place ?? `${this.#root}/${path}`;
    let names: Pick<Folder, 'place' | 'stat' | 'settled' | 'folders' | 'files'>;
    try {
      const stat = lstatSync(place);
      names = known?.settled === true && same(known.stat, stat) ? known : namesIn(path, place, stat, known);
    } catch {
      return undefined;
    }
    if (count + names.files.length > this.#limits.entries) return 'too many';
    let held = 0;
    let files: File[] | undefined;
    for (const [at, file] of names.files.entries()) {
      const entry = this.#entry(file, this.#limits.heldBytes - before - held);
      held += entry?.content?.length ?? 0;
      if (entry === file.entry) continue;
      files ??= [...names.files];
      files[at] = { ...file, entry };
    }
    return names === known && files === undefined ? known : { ...names, files: files ?? names.files, held };
  }

  /** The same as before when it has not changed; undefined when it is gone already, or cannot be read. */
  #entry({ place, entry: known }: File, budget: number): Entry | undefined {
    try {
      const stat = lstatSync(place);
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

/** What stands in a folder now, with what is known of it. @throws when it cannot be read */
function namesIn(path: string, place: string, stat: Stats, known: Folder | undefined) {
  // Asked before the names are read.
  const settled = isSettled(stat);
  const entries = readdirSync(place, { withFileTypes: true });
  const inside = path === '' ? '' : `${path}/`;
  const files = new Map(known?.files.map((file) => [file.path, file]));
  const isLeftOut = (entry: Dirent) => entry.isDirectory() && LEFT_OUT.has(entry.name);
  return {
    place,
    stat,
    settled,
    folders: entries
      .filter((entry) => entry.isDirectory() && !isLeftOut(entry))
      .map(({ name }) => inside + name),
    files: entries
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map(({ name }): File => {
        const file = inside + name;
        return files.get(file) ?? { path: file, place: join(place, name), entry: undefined };
      }),
  };
}

function addFiles(to: Map<string, Entry>, folder: Folder | undefined): void {
  for (const { path, entry } of folder?.files ?? []) if (entry !== undefined) to.set(path, entry);
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
