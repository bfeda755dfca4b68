/**
 * The full-text index: SQLite's FTS5 over what sessions say, in a file of its own.
 *
 * Promise: derived, like the index of listings. It is brought up to date when somebody searches, so that recording costs
 * nothing; what was deleted is gone from it too. It holds nothing that the logs do not hold.
 */
import { type Passage, type PassageKind, spaced, termsOf } from '../passage.ts';
import { DerivedDb } from './derived-db.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, seq INTEGER NOT NULL, count INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, step INTEGER, kind TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5(
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  PRAGMA secure_delete = ON;
`;

/** Passages of one session have ids of their own range. */
const RANGE = 2 ** 31;

export interface FoundPassage extends Passage {
  readonly session: string;
  readonly seq: number;
}

export class SearchDb {
  readonly #db: DerivedDb;

  constructor(path: string) {
    this.#db = new DerivedDb(path, SCHEMA);
  }

  /** Up to which event each session is indexed; undefined when there can be no index here. */
  reached(): Map<string, number> | undefined {
    if (!this.#db.change(() => undefined)) return undefined;
    const rows = this.#db.read((db) => db.prepare('SELECT id, seq FROM session').all());
    return rows && new Map(rows.map(({ id, seq }) => [String(id), Number(seq)]));
  }

  /** @param seq the last event that was looked at */
  add(id: string, seq: number, passages: readonly (Passage & { readonly seq: number })[]): boolean {
    return this.#db.change((db) => {
      const known = db.prepare('SELECT number, count FROM session WHERE id = ?').get(id);
      const next = db.prepare('SELECT coalesce(max(number), 0) + 1 AS next FROM session').get()?.next;
      const number = Number(known?.number ?? next);
      let count = Number(known?.count ?? 0);
      const text = db.prepare('INSERT INTO passage VALUES (?, ?, ?, ?, ?)');
      const words = db.prepare('INSERT INTO word (rowid, text) VALUES (?, ?)');
      for (const passage of passages) {
        const row = number * RANGE + ++count;
        text.run(row, passage.seq, passage.step ?? null, passage.kind, passage.text.toWellFormed());
        words.run(row, spaced(passage.text.toWellFormed()));
      }
      db.prepare('INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?)').run(id, number, seq, count);
    });
  }

  remove(id: string): void {
    if (this.#db.read((db) => db.prepare('SELECT 1 FROM session WHERE id = ?').get(id)) === undefined) return;
    this.#db.change((db) => {
      const number = Number(db.prepare('SELECT number FROM session WHERE id = ?').get(id)?.number);
      for (const table of ['word', 'passage']) {
        const where = table === 'word' ? 'rowid' : 'id';
        db.prepare(`DELETE FROM ${table} WHERE ${where} BETWEEN ? AND ?`).run(
          number * RANGE,
          (number + 1) * RANGE - 1,
        );
      }
      db.prepare('DELETE FROM session WHERE id = ?').run(id);
      // What was deleted must not be left in the pieces of the word index.
      db.exec("INSERT INTO word (word) VALUES ('optimize')");
    });
  }

  /** Best first. Undefined when there is no index to ask. */
  find(query: string, limit: number): FoundPassage[] | undefined {
    const match = termsOf(query)
      .map((term) => `"${spaced(term).replaceAll('"', '""')}" *`)
      .join(' ');
    const rows = this.#db.read((db) =>
      db
        .prepare(
          `SELECT session.id AS session, passage.seq, passage.step, passage.kind, passage.text
           FROM word JOIN passage ON passage.id = word.rowid JOIN session ON session.number = word.rowid / ${RANGE}
           WHERE word MATCH ? ORDER BY rank, word.rowid DESC LIMIT ?`,
        )
        .all(match, limit),
    );
    return rows?.map(({ session, seq, step, kind, text }) => ({
      session: String(session),
      seq: Number(seq),
      kind: String(kind) as PassageKind,
      text: String(text),
      ...(step === null ? {} : { step: Number(step) }),
    }));
  }

  close(): void {
    this.#db.close();
  }
}
