/**
 * Plugins that were put to rest after a crash loop, remembered across restarts.
 *
 * Promise: a plugin at rest is not started again before a person says so (`plugin reload`), its files or its
 * configuration change, or an hour has passed. The file is written whole or not at all; one that cannot be read counts as
 * empty, for nothing in it is worth not starting.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Unavailable } from '../capability.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';

export interface Rests {
  /** Why a plugin is at rest, if it is and still is what it was then. */
  find(entry: CatalogueEntry): Unavailable | undefined;
  add(entry: CatalogueEntry, record: Unavailable): void;
  remove(name: string): void;
}

interface Rest {
  /** Of files and configuration. */
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly record: Unavailable;
}

const REST_MS = 3_600_000;

/** @param file a JSON file, made when it is needed */
export function restsIn(file: string, now: () => number = Date.now): Rests {
  const read = (): Readonly<Record<string, Rest>> => {
    try {
      const { rests } = JSON.parse(readFileSync(file, 'utf8')) as { rests?: Record<string, Rest> };
      const valid = Object.entries(rests ?? {}).filter(
        ([, rest]) => rest.until > now() && isRecord(rest.record),
      );
      return Object.fromEntries(valid);
    } catch {
      return {};
    }
  };
  const write = (rests: Readonly<Record<string, Rest>>): void => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}`;
    try {
      writeFileSync(draft, `${JSON.stringify({ rests }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
      renameSync(draft, file);
    } finally {
      rmSync(draft, { force: true });
    }
  };
  return {
    find(entry) {
      const rest = read()[entry.name];
      return rest?.state === stateOf(entry) ? saidAgain(rest.record) : undefined;
    },
    add(entry, record) {
      const until = now() + REST_MS;
      write({ ...read(), [entry.name]: { state: stateOf(entry), until, record } });
    },
    remove(name) {
      const { [name]: gone, ...others } = read();
      if (gone !== undefined) write(others);
    },
  };
}

function stateOf({ digest, block }: CatalogueEntry): string {
  return createHash('sha256')
    .update(JSON.stringify([digest, block]))
    .digest('hex');
}

function isRecord(record: Unavailable | undefined): boolean {
  return typeof record?.cause?.message === 'string' && typeof record.fix === 'string';
}

/** The record as it is told by a run that did not start the plugin at all. */
function saidAgain(record: Unavailable): Unavailable {
  return { ...record, fix: `${record.fix}; until then it is at rest, as it failed again and again` };
}
