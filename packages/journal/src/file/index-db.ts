/**
 * The index: what listings need, in SQLite, derived from the logs.
 *
 * Promise: it is never the truth. When it is missing, locked or damaged, everything works without it, and it is built
 * anew. It remembers how far each log reached, so that a log cut at a line end is noticed.
 */
import type { Tallied } from '../tally.ts';
import { DerivedDb } from './derived-db.ts';

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

export class IndexDb {
  readonly #db: DerivedDb;

  constructor(path: string) {
    this.#db = new DerivedDb(path, SCHEMA);
  }

  get(id: string): IndexRow | undefined {
    return this.#db.read((db) => {
      const found = db.prepare('SELECT row FROM session WHERE id = ?').get(id);
      return found && (JSON.parse(String(found.row)) as IndexRow);
    });
  }

  all(): Map<string, IndexRow> {
    const rows = this.#db.read((db) => db.prepare('SELECT id, row FROM session').all()) ?? [];
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
    this.#db.change((db) => {
      const insert = db.prepare(
        'INSERT INTO session VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET row = excluded.row',
      );
      for (const row of rows) insert.run(row.id, JSON.stringify(row));
    });
  }

  remove(id: string): void {
    this.#db.change((db) => db.prepare('DELETE FROM session WHERE id = ?').run(id));
  }

  close(): void {
    this.#db.close();
  }
}
