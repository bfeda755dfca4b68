/**
 * The index: what listings need, in SQLite, derived from the logs.
 *
 * Promise: it is never the truth. When it is missing, locked or damaged, everything works without it, and it is built
 * anew. It remembers how far each log reached, so that a log cut at a line end is noticed.
 */
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Tallied } from '../tally.ts';
import { FILE_MODE } from './disk.ts';

export interface IndexRow {
  readonly id: string;
  /** The newest segment when this was written: its file name, size and time of change. */
  readonly segment: string;
  readonly size: number;
  readonly mtime: number;
  /** Where to go on reading: the first event of a plain segment, and the byte after its last whole line. */
  readonly first: number;
  readonly offset: number;
  readonly hash: string;
  readonly tallied: Tallied;
  readonly problem: string | null;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 1;
`;

/** SQLITE_BUSY and SQLITE_LOCKED: others are at work on a sound database. */
const BUSY: ReadonlySet<number | undefined> = new Set([5, 6]);
/** SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR and SQLITE_CANTOPEN: what writing ends with where only reading is possible. */
const READ_ONLY: ReadonlySet<number | undefined> = new Set([3, 8, 10, 14]);

/** SQLite's primary result code. */
function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

export class IndexDb {
  readonly #path: string;
  #db: DatabaseSync | undefined;
  #given = false;
  /** The folder or the file may only be read. */
  #readOnly = false;

  constructor(path: string) {
    this.#path = path;
  }

  get(id: string): IndexRow | undefined {
    if (!this.#isThere()) return undefined;
    return this.#try((db) => {
      const found = db.prepare('SELECT row FROM session WHERE id = ?').get(id);
      return found && (JSON.parse(String(found.row)) as IndexRow);
    });
  }

  all(): Map<string, IndexRow> {
    if (!this.#isThere()) return new Map();
    const rows = this.#try((db) => db.prepare('SELECT id, row FROM session').all()) ?? [];
    const found = new Map<string, IndexRow>();
    for (const { id, row } of rows) {
      try {
        found.set(String(id), JSON.parse(String(row)) as IndexRow);
      } catch {
        // A damaged row is as good as none.
      }
    }
    return found;
  }

  put(rows: readonly IndexRow[]): void {
    if (rows.length === 0) return;
    this.#change((db) => {
      db.exec('BEGIN IMMEDIATE');
      try {
        const insert = db.prepare(
          'INSERT INTO session VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET row = excluded.row',
        );
        for (const row of rows) insert.run(row.id, JSON.stringify(row));
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  remove(id: string): void {
    this.#change((db) => db.prepare('DELETE FROM session WHERE id = ?').run(id));
  }

  /** Looking does not make one. */
  #isThere(): boolean {
    return this.#db !== undefined || existsSync(this.#path);
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
  }

  /** What cannot be written is not remembered: it is derived. */
  #change(query: (db: DatabaseSync) => void): void {
    this.#try((db) => {
      if (!this.#readOnly) query(db);
    });
  }

  /** Runs a query; a database that fails is thrown away and made anew once, then given up for the life of this store. */
  #try<T>(query: (db: DatabaseSync) => T): T | undefined {
    for (let attempt = 0; attempt < 2 && !this.#given; attempt++) {
      try {
        this.#db ??= this.#open();
        return query(this.#db);
      } catch (error) {
        this.#discard(error);
      }
    }
    return undefined;
  }

  #open(): DatabaseSync {
    try {
      return this.#openForWriting();
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined && !READ_ONLY.has(code)) throw error;
      const db = new DatabaseSync(this.#path, { readOnly: true, timeout: 2000 });
      this.#readOnly = true;
      return db;
    }
  }

  #openForWriting(): DatabaseSync {
    const db = new DatabaseSync(this.#path, { timeout: 2000 });
    try {
      // No WAL: it needs shared memory, which network file systems and containers do not share.
      db.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;');
      db.exec(SCHEMA);
      chmodSync(this.#path, FILE_MODE);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  #discard(error: unknown): void {
    try {
      this.#db?.close();
    } catch {
      // It is thrown away in any case.
    }
    this.#db = undefined;
    const code = codeOf(error);
    if (code === undefined || BUSY.has(code) || READ_ONLY.has(code)) {
      this.#given = true;
      return;
    }
    try {
      rmSync(this.#path, { force: true });
      rmSync(`${this.#path}-journal`, { force: true });
    } catch {
      this.#given = true;
    }
  }
}
