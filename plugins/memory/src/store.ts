/**
 * Entries in an SQLite database with a full text index.
 *
 * Promise: an entry is there whole, with its index, or not at all; several processes may use one file at the same time; a file of
 * another kind or a newer layout is never written to.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import type { MemoryEntry } from '@chassis/sdk';
import { expression, indexed } from './words.ts';

type Sqlite = typeof import('node:sqlite');
type Database = InstanceType<Sqlite['DatabaseSync']>;

/** Written into the file, so that the layout may change one day. */
const LAYOUT = 1;
/** "chas", so that a database of something else is recognised. */
const APPLICATION = 0x63686173;

export interface PutEntry {
  readonly key: string;
  readonly text: string;
  readonly tags: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly session: string;
  readonly step: number;
}

export interface Entries {
  put(entry: PutEntry): void;
  /** Best first. */
  search(query: string, limit: number): readonly MemoryEntry[];
  close(): void;
}

/** @throws Unavailable when this Node has no SQLite, or an SQLite without full text search */
export async function sqlite(): Promise<Sqlite> {
  let module: Sqlite;
  try {
    module = await import('node:sqlite');
  } catch (cause) {
    throw new ChassisError(
      'Unavailable',
      `the memory plugin needs node:sqlite, which Node ${process.version} does not have; use Node 24.11 or newer`,
      { cause },
    );
  }
  const probe = new module.DatabaseSync(':memory:');
  try {
    probe.exec('CREATE VIRTUAL TABLE probe USING fts5(text)');
  } catch (cause) {
    throw new ChassisError(
      'Unavailable',
      `the memory plugin needs an SQLite with full text search (FTS5), and that of Node ${process.version} was built without it`,
      { cause },
    );
  } finally {
    probe.close();
  }
  return module;
}

/** @throws Unavailable when the file cannot be used */
export function openEntries({ DatabaseSync }: Sqlite, file: string): Entries {
  const database = open(() => {
    const folder = dirname(file);
    if (!existsSync(folder)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // What is remembered is nobody's source.
      writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 });
    }
    return prepared(new DatabaseSync(file, { timeout: 5_000 }), file);
  }, file);
  const upsert = database.prepare(
    `INSERT INTO entries (key, text, tags, created, updated, session, step) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET text = excluded.text, tags = excluded.tags, updated = excluded.updated,
       session = excluded.session, step = excluded.step
     RETURNING id`,
  );
  const unindex = database.prepare('DELETE FROM words WHERE rowid = ?');
  const index = database.prepare('INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)');
  const find = database.prepare(
    `SELECT key, entries.text AS text, entries.tags AS tags, updated, bm25(words, 1.0, 2.0) AS rank
     FROM words JOIN entries ON entries.id = words.rowid
     WHERE words MATCH ? ORDER BY rank, updated DESC, key LIMIT ?`,
  );
  return {
    put({ key, text, tags, now, session, step }) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const { id } = upsert.get(key, text, JSON.stringify(tags), now, now, session, step) as { id: number };
        unindex.run(id);
        index.run(id, indexed(text), indexed(tags.join(' ')));
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    search(query, limit) {
      const wanted = expression(query);
      if (wanted === undefined) return [];
      return (find.all(wanted, limit) as unknown as Row[]).map((row) => ({
        key: row.key,
        text: row.text,
        tags: JSON.parse(row.tags) as string[],
        at: new Date(row.updated).toISOString(),
        score: Math.round(-row.rank * 1000) / 1000,
      }));
    },
    close: () => database.close(),
  };
}

interface Row {
  readonly key: string;
  readonly text: string;
  readonly tags: string;
  readonly updated: number;
  readonly rank: number;
}

function open(make: () => Database, file: string): Database {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof ChassisError) throw cause;
    throw new ChassisError(
      'Unavailable',
      `the memory in ${file} cannot be opened: ${(cause as Error).message}`,
      {
        data: { fix: `look at ${file}, or name another one under plugins.memory.config.file` },
        cause,
      },
    );
  }
}

function prepared(database: Database, file: string): Database {
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const [application, layout] = [pragma('application_id'), pragma('user_version')];
  const isNew = layout === 0 && application === 0 && pragma('schema_version') === 0;
  if (!isNew && (application !== APPLICATION || layout !== LAYOUT)) {
    database.close();
    const what =
      application === APPLICATION ? `has layout ${String(layout)}, this version knows ${LAYOUT}` : 'is none';
    throw new ChassisError('Unavailable', `${file} was to be a memory, but it ${what}`, {
      data: { fix: 'name another file under plugins.memory.config.file' },
    });
  }
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  if (isNew)
    database.exec(`
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS entries (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL, tags TEXT NOT NULL,
        created INTEGER NOT NULL, updated INTEGER NOT NULL, session TEXT NOT NULL, step INTEGER NOT NULL
      ) STRICT;
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tags, tokenize = 'unicode61 remove_diacritics 2');
      PRAGMA application_id = ${APPLICATION};
      PRAGMA user_version = ${LAYOUT};
      COMMIT;
    `);
  return database;
}
