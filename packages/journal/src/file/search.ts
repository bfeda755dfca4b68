/** Searches all sessions: brings the full-text index up to date, then asks it; without one the logs are read. */
import { type Resolve, resolveRefs } from '../blob-ref.ts';
import type { Event, UnknownEvent } from '../event.ts';
import { decodeLine } from '../line.ts';
import { around, holdsAll, mayTell, type Passage, passagesOf, type SearchHit, termsOf } from '../passage.ts';
import type { SessionSummary } from '../store.ts';
import type { Layout } from './layout.ts';
import type { SearchDb } from './search-db.ts';
import { partsOf, scanPart } from './session-files.ts';

/** Passages that are written to the index at once. */
const BATCH = 2000;

interface Placed extends Passage {
  readonly seq: number;
}

export async function searchSessions(
  layout: Layout,
  db: SearchDb,
  resolve: Resolve,
  sessions: readonly SessionSummary[],
  query: string,
  limit: number,
): Promise<SearchHit[]> {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const titles = new Map(sessions.map(({ id, title }) => [id, title]));
  const reached = db.reached();
  const found =
    reached && (await bringUpToDate(layout, db, resolve, sessions, reached))
      ? db.find(query, limit)
      : undefined;
  const hits = found ?? (await scanAll(layout, resolve, sessions, terms, limit));
  return hits.map((hit) => ({ ...hit, text: around(hit.text, terms), title: titles.get(hit.session) ?? '' }));
}

/** @returns whether the index now holds everything that can be read */
async function bringUpToDate(
  layout: Layout,
  db: SearchDb,
  resolve: Resolve,
  sessions: readonly SessionSummary[],
  reached: Map<string, number>,
): Promise<boolean> {
  for (const { id, events, outcome } of sessions) {
    const known = reached.get(id) ?? -1;
    reached.delete(id);
    const last = events - 1;
    if (known === last || outcome === 'unreadable') continue;
    // A log that became shorter is another one now.
    if (known > last) db.remove(id);
    let batch: Placed[] = [];
    for await (const passage of passages(layout, id, resolve, known > last ? 0 : known + 1)) {
      batch.push(passage);
      // How far it got is written with the last batch: one that is interrupted begins anew.
      if (batch.length < BATCH) continue;
      if (!db.add(id, batch.at(-1)?.seq ?? known, batch)) return false;
      batch = [];
    }
    if (!db.add(id, last, batch)) return false;
  }
  for (const gone of reached.keys()) db.remove(gone);
  return true;
}

async function scanAll(
  layout: Layout,
  resolve: Resolve,
  sessions: readonly SessionSummary[],
  terms: readonly string[],
  limit: number,
): Promise<(Placed & { session: string })[]> {
  const found: (Placed & { session: string })[] = [];
  for (const { id, outcome } of sessions) {
    if (outcome === 'unreadable') continue;
    for await (const passage of passages(layout, id, resolve, 0)) {
      if (!holdsAll(passage.text, terms)) continue;
      found.push({ ...passage, session: id });
      if (found.length >= limit) return found;
    }
  }
  return found;
}

/** What a session itself says from an event on; a fork's past is its parent's. */
async function* passages(layout: Layout, id: string, resolve: Resolve, from: number): AsyncGenerator<Placed> {
  const own = (await partsOf(layout, id)).at(-1);
  if (!own) return;
  /** Results of tools are not searched: they need not be fetched. */
  const tools = new Set<number | undefined>();
  for await (const lines of scanPart(own, { from })) {
    for (const { bytes, checked } of lines) {
      if (!checked.whole || !checked.head || !mayTell(checked.head.type)) continue;
      const { event, refs } = decodeLine(bytes, true, checked);
      if (event.type === 'step.started' && (event as Event & { type: 'step.started' }).data.kind === 'tool')
        tools.add(event.step);
      const whole = refs && !tools.has(event.step) ? resolved(event, resolve) : event;
      for (const passage of passagesOf(whole)) yield { ...passage, seq: event.seq };
    }
  }
}

function resolved(event: Event | UnknownEvent, resolve: Resolve): UnknownEvent {
  return { ...event, data: resolveRefs(event.data as never, resolve) } as UnknownEvent;
}
