/** `chassis prune`: deletes old sessions by rule, and values that nothing refers to any more. Running ones stay. */
import { toChassisError } from '@chassis/errors';
import type { SessionSummary } from '@chassis/journal';
import { usage } from '../failure.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { existingStore } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { bytes, moment, spanOf } from '../terminal/units.ts';

interface Options {
  readonly olderThan?: string;
  readonly keep?: string;
  readonly dryRun?: true;
}

export async function prune({ options, globals, out }: Call<Options>): Promise<Ending> {
  const rule = ruleOf(options);
  const store = existingStore(globals);
  const sessions = await Array.fromAsync(store.list());
  const chosen = withoutNeeded(sessions, sessions.filter(rule));
  const deleted: string[] = [];
  const kept: { session: string; reason: string }[] = [];
  let freed = 0;
  // Oldest last in the list: a fork goes before the parent that it needs.
  for (const session of chosen) {
    try {
      const size = options.dryRun === true ? session.bytes : await store.remove(session.id);
      freed += size;
      deleted.push(session.id);
      const verb = options.dryRun === true ? 'would delete' : 'deleted';
      out.line(
        `${verb} ${session.id}  ${moment(session.updated)}  ${bytes(size)}  ${visible(session.title)}`,
      );
      out.record({ type: 'deleted', session: session.id, bytes: size, dry_run: options.dryRun === true });
    } catch (error) {
      const reason = toChassisError(error).message;
      kept.push({ session: session.id, reason });
      out.note(`kept ${session.id}: ${visible(reason)}`);
    }
  }
  const collected = options.dryRun === true ? 0 : await store.collect();
  await store.close();
  const total = freed + collected;
  out.line(
    options.dryRun === true
      ? `would delete ${deleted.length} session(s), ${bytes(total)}`
      : `deleted ${deleted.length} session(s), ${bytes(total)} freed`,
  );
  return { result: { deleted, kept, bytes: total, dry_run: options.dryRun === true } };
}

/** A session that a fork goes back to stays as long as the fork does. */
function withoutNeeded(
  all: readonly SessionSummary[],
  chosen: readonly SessionSummary[],
): readonly SessionSummary[] {
  const needed = new Set<string>();
  const need = (session: SessionSummary | undefined): void => {
    const parent = session?.parent?.session;
    if (parent === undefined || needed.has(parent)) return;
    needed.add(parent);
    need(all.find(({ id }) => id === parent));
  };
  for (const session of all) if (!chosen.includes(session)) need(session);
  return chosen.filter(({ id }) => !needed.has(id));
}

/** Without a rule nothing is old: then only unused values go. */
function ruleOf({ olderThan, keep }: Options): (session: SessionSummary, place: number) => boolean {
  const span = olderThan === undefined ? undefined : spanOf(olderThan);
  if (olderThan !== undefined && span === undefined)
    throw usage(`--older-than ${olderThan}: write a span such as 30d, 12h, 90s`);
  if (keep !== undefined && !/^\d+$/.test(keep)) throw usage(`--keep ${keep}: it must be a whole number`);
  const before = span === undefined ? undefined : Date.now() - span;
  const newest = keep === undefined ? undefined : Number(keep);
  return (session, place) => {
    if (session.outcome === 'running' || session.outcome === 'unreadable') return false;
    if (before === undefined && newest === undefined) return false;
    return (before === undefined || session.updated < before) && (newest === undefined || place >= newest);
  };
}
