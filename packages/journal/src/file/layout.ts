/** Where everything stands inside a `.chassis` folder. Only its owner can read it, and git ignores it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILE_MODE, FOLDER_MODE, isCode, misplaced, syncFolderNow } from './disk.ts';

/** A part of a log. `first` is the sequence number of its first event. */
export interface Segment {
  readonly first: number;
  readonly path: string;
  /** Sealed ones are compressed and never change. */
  readonly sealed: boolean;
}

export class Layout {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get sessions(): string {
    return join(this.root, 'sessions');
  }

  get blobs(): string {
    return join(this.root, 'blobs');
  }

  get index(): string {
    return join(this.root, 'index.db');
  }

  get searchIndex(): string {
    return join(this.root, 'search.db');
  }

  session(id: string): SessionLayout {
    return new SessionLayout(join(this.sessions, id));
  }

  blob(sha256: string): string {
    return join(this.blobs, sha256.slice(0, 2), `${sha256}.zst`);
  }

  /** Makes the folders that every store has. */
  prepare(): void {
    if (existsSync(this.sessions) && existsSync(this.blobs)) return;
    for (const folder of [this.root, this.sessions, this.blobs])
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    try {
      writeFileSync(join(this.root, '.gitignore'), '*\n', { flag: 'wx', mode: FILE_MODE });
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
    // A session that was acknowledged must not vanish with the name of a folder above it.
    for (const folder of [this.root, dirname(this.root)]) syncFolderNow(folder);
  }

  /** Ids of all session folders, whatever their state. */
  ids(): string[] {
    try {
      return readdirSync(this.sessions, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map((entry) => entry.name);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

export class SessionLayout {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  get head(): string {
    return join(this.folder, 'head.json');
  }

  get log(): string {
    return join(this.folder, 'log');
  }

  get lock(): string {
    return join(this.folder, 'lock');
  }

  /** Derived; see `snapshot-file.ts`. */
  get snapshots(): string {
    return join(this.folder, 'snapshots');
  }

  get quarantine(): string {
    return join(this.folder, 'quarantine');
  }

  /** The plain segment that starts with an event. */
  segment(first: number): string {
    return join(this.log, `${String(first).padStart(20, '0')}.jsonl`);
  }

  /** All segments in order. One that is there in both forms counts as sealed: it was sealed completely. */
  segments(): Segment[] {
    let names: string[];
    try {
      names = readdirSync(this.log);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return [];
      if (isCode(error, 'ENOTDIR', 'ELOOP')) throw misplaced(this.log, 'no folder, where the log should be');
      throw error;
    }
    const found = new Map<number, Segment>();
    for (const name of names) {
      const match = /^(\d{20})\.jsonl(\.zst)?$/.exec(name);
      if (!match) continue;
      const first = Number(match[1]);
      const sealed = match[2] !== undefined;
      if (sealed || !found.has(first)) found.set(first, { first, path: join(this.log, name), sealed });
    }
    return [...found.values()].sort((a, b) => a.first - b.first);
  }
}

/** The offset table beside a sealed segment. */
export function offsetTable(sealedPath: string): string {
  return sealedPath.replace(/\.zst$/, '.idx');
}
