/**
 * A SQLite file that is derived from the logs.
 *
 * Promise: it is never the truth. Missing, locked, damaged, or SQLite not part of this Node: every question then has no answer,
 * nothing fails, and what can be made anew is made anew.
 */
import { chmodSync, existsSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { FILE_MODE } from './disk.ts';

/** SQLITE_BUSY and SQLITE_LOCKED: others are at work on a sound database. */
const BUSY: ReadonlySet<number | undefined> = new Set([5, 6]);
/** SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR and SQLITE_CANTOPEN: what writing ends with where only reading is possible. */
const READ_ONLY: ReadonlySet<number | undefined> = new Set([3, 8, 10, 14]);

/** SQLite's primary result code. */
function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

export class DerivedDb {
  readonly #path: string;
  readonly #schema: string;
  #db: DatabaseSync | undefined;
  #given: boolean;
  /** The folder or the file may only be read. */
  #readOnly = false;

  /** @param schema makes what is not there yet; it may be run again and again */
  constructor(path: string, schema: string) {
    this.#path = path;
    this.#schema = schema;
    this.#given = sqlite() === undefined;
  }

  /** Asks something; undefined when there is nothing to ask. Looking does not make a file. */
  read<T>(query: (db: DatabaseSync) => T): T | undefined {
    return this.#db !== undefined || existsSync(this.#path) ? this.#try(query) : undefined;
  }

  /** @returns whether it was written: what cannot be written is not remembered, it is derived */
  change(query: (db: DatabaseSync) => void): boolean {
    const done = this.#try((db) => {
      if (this.#readOnly) return false;
      db.exec('BEGIN IMMEDIATE');
      try {
        query(db);
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
      return true;
    });
    return done ?? false;
  }

  close(): void {
    this.#db?.close();
    this.#db = undefined;
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
    const { DatabaseSync } = sqlite() as typeof import('node:sqlite');
    try {
      return this.#openForWriting(new DatabaseSync(this.#path, { timeout: 2000 }));
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined && !READ_ONLY.has(code)) throw error;
      const db = new DatabaseSync(this.#path, { readOnly: true, timeout: 2000 });
      this.#readOnly = true;
      return db;
    }
  }

  #openForWriting(db: DatabaseSync): DatabaseSync {
    try {
      // No WAL: it needs shared memory, which network file systems and containers do not share.
      db.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;');
      db.exec(this.#schema);
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

/** Node may be built without it. */
function sqlite(): typeof import('node:sqlite') | undefined {
  return process.getBuiltinModule('node:sqlite');
}
