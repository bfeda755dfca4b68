/**
 * The way from the symptom back to the cause, link by link.
 *
 * Where a value can be followed the links are those of its lineage. Where none can, the recorded causes between the two
 * steps are shown, and the tie is called a guess: coming before is no proof.
 */

import { leadersOf } from './edges.ts';
import type { Link } from './hops.ts';
import { leavesOf } from './json.ts';
import type { Lineage } from './lineage.ts';
import { callOf, type Label } from './origins.ts';
import type { Place } from './place.ts';
import { follow, parentOf } from './pointer.ts';
import type { Ranked } from './rank.ts';
import type { Evidence, Trace } from './rules/rule.ts';
import { isDistinctive } from './search.ts';
import { spotAt } from './spots.ts';

/** One end of a link. */
export interface End extends Place {
  /** The step's name. */
  readonly name: string;
  /** What stands there, when the link is about a value. */
  readonly text?: string;
  /** `number` when it stands there as one. */
  readonly type?: 'number';
}

/** One step backwards: `to` is where `from` came from. */
export interface ChainLink {
  readonly from: End;
  readonly to: End;
  readonly label: Label;
  readonly how: string;
}

export interface Chain {
  readonly chain: readonly ChainLink[];
  /** The weakest label on the way. */
  readonly label: Label;
}

const strength: readonly Label[] = ['guess', 'inferred', 'recorded'];
const mostControlLinks = 6;
/** Longer texts name nothing. */
const mostName = 200;

/** The chain to a cause; without one, the lineage of the first value that the failure complains about. */
export function chainTo(evidence: Evidence, cause: Ranked | undefined): Chain {
  const { traces, symptom } = evidence;
  const direct = traces.find(({ complaint }) => complaint.kind === 'direct');
  if (!cause) return direct ? along(evidence, direct.lineage.links) : { chain: [], label: 'guess' };
  const at = traces.find(
    ({ lineage: { birth } }) => birth.step === cause.step && birth.pointer === cause.pointer,
  );
  const born = at ?? traces.find((trace) => trace.lineage.birth.step === cause.step && covers(cause, trace));
  if (born) return along(evidence, born.lineage.links);
  const put = traces.flatMap(({ lineage: found }) => toSource(evidence, cause, found))[0];
  if (put) return put;
  if (cause.step === symptom.step) return { chain: [], label: 'recorded' };
  const written = writtenAt(evidence, cause) ?? sameFailure(evidence, cause);
  if (written) return written;
  const passing = traces.find(({ lineage: { links } }) => links.some(({ to }) => to.step === cause.step));
  if (passing) {
    const { links } = passing.lineage;
    return along(evidence, links.slice(0, links.findIndex(({ to }) => to.step === cause.step) + 1));
  }
  const target = {
    step: cause.step,
    pointer: cause.pointer ?? '/output',
    name: nameAt(evidence, cause.step),
  };
  const madeUp = traces.find(
    ({ complaint, lineage: found }) =>
      complaint.kind === 'direct' && found.origin === 'model' && found.birth.step > cause.step,
  );
  if (madeUp) {
    const { chain } = along(evidence, madeUp.lineage.links);
    const { birth } = madeUp.lineage;
    const how = cause.kind === 'missing' ? 'written without what is missing here' : 'written after this';
    return {
      chain: [...chain, { from: end(evidence, birth), to: target, label: 'guess', how }],
      label: 'guess',
    };
  }
  const same = aboutTheSame(evidence, cause);
  if (same) return same;
  // A failure that speaks of the step before it is more than an order in time.
  return { chain: controlPath(evidence, cause), label: cause.kind === 'end' ? 'inferred' : 'guess' };
}

/** The chain to the model's call that failed, when the cause is how it was written. */
function writtenAt(evidence: Evidence, cause: Ranked): Chain | undefined {
  const { view, symptom } = evidence;
  const step = view.step(symptom.step);
  const call = step && callOf(view, step);
  if (call?.model.number !== cause.step || !cause.pointer?.startsWith(parentOf(call.pointer)))
    return undefined;
  const from = { step: symptom.step, pointer: '/input', name: nameAt(evidence, symptom.step) };
  const to = { step: cause.step, pointer: cause.pointer, name: nameAt(evidence, cause.step) };
  const how = 'the model wrote this call';
  return { chain: [{ from, to, label: 'recorded', how }], label: 'recorded' };
}

/** The chain to an earlier call of the same tool that failed in the same words, or had the same wrong thing in its answer. */
function sameFailure(evidence: Evidence, cause: Ranked): Chain | undefined {
  const { view, symptom } = evidence;
  const [now, before] = [view.step(symptom.step), view.step(cause.step)];
  if (!now || before?.name !== now.name || before === now) return undefined;
  const failed = now.error !== undefined && before.error?.message === now.error.message;
  const pointer = failed ? '/error/message' : cause.value === undefined ? undefined : cause.pointer;
  if (pointer === undefined || (!failed && follow(now, pointer) !== cause.value)) return undefined;
  const at = (step: number): End => ({ step, pointer, name: now.name });
  const link = {
    from: at(symptom.step),
    to: at(cause.step),
    label: 'inferred',
    how: 'the same failure',
  } as const;
  return { chain: [link], label: 'inferred' };
}

/** The chain to a call that was given the same thing as the one that failed: a path, an id, an address. */
function aboutTheSame(evidence: Evidence, cause: Ranked): Chain | undefined {
  const { view, symptom } = evidence;
  const [now, before] = [view.step(symptom.step), view.step(cause.step)];
  if (now?.kind !== 'tool' || before?.kind !== 'tool' || cause.kind === 'end') return undefined;
  const things = new Map(
    leavesOf(before.input, '/input')
      .filter(
        ({ value, text }) => typeof value === 'string' && text.length <= mostName && isDistinctive(text),
      )
      .map(({ text, pointer }) => [text, pointer]),
  );
  for (const { text, pointer } of leavesOf(now.input, '/input')) {
    const there = things.get(text);
    if (there === undefined) continue;
    const from = { step: now.number, pointer, name: now.name, text };
    const to = { step: before.number, pointer: there, name: before.name, text };
    return { chain: [{ from, to, label: 'inferred', how: 'about the same' }], label: 'inferred' };
  }
  return undefined;
}

/** The chain to a value that the traced one was put together or worked out from. */
function toSource(evidence: Evidence, cause: Ranked, found: Lineage): Chain[] {
  const { links, birth, pieces, derived } = found;
  const piece = pieces.find(({ link }) => link.to.step === cause.step && within(cause, link.to.pointer));
  if (piece) return [along(evidence, [...links, piece.link])];
  const value = derived?.of.find((one) => one.step === cause.step && within(cause, one.pointer));
  if (!derived || !value) return [];
  const { chain } = along(evidence, links);
  const last: ChainLink = {
    from: end(evidence, birth),
    to: end(evidence, value),
    label: derived.label,
    how: `${derived.how}, this one among them`,
  };
  return [{ chain: [...chain, last], label: 'inferred' }];
}

function covers(cause: Ranked, { lineage: { birth } }: Trace): boolean {
  return within(cause, birth.pointer);
}

function within(cause: Ranked, pointer: string): boolean {
  return cause.pointer === undefined || pointer.startsWith(`${cause.pointer}/`) || pointer === cause.pointer;
}

function along(evidence: Evidence, links: readonly Link[]): Chain {
  const chain = links.map(
    ({ from, to, label, how }): ChainLink => ({
      from: end(evidence, from),
      to: end(evidence, to),
      label,
      how,
    }),
  );
  const weakest = Math.min(strength.length - 1, ...chain.map(({ label }) => strength.indexOf(label)));
  return { chain, label: strength[weakest] ?? 'guess' };
}

/** The shortest way over recorded edges; the middle of a long one is left out. */
function controlPath(evidence: Evidence, cause: Ranked): ChainLink[] {
  const { view, symptom } = evidence;
  const later = new Map<number, number>();
  const queue = [symptom.step];
  for (const at of queue) {
    if (at === cause.step) break;
    const step = view.step(at);
    for (const on of step ? leadersOf(view, step) : []) {
      if (later.has(on) || on === symptom.step) continue;
      later.set(on, at);
      queue.push(on);
    }
  }
  const path: number[] = [cause.step];
  for (let at = later.get(cause.step); at !== undefined; at = later.get(at)) path.push(at);
  const steps = path.reverse();
  if (steps.length < 2) return [];
  const shown = steps.length - 1 <= mostControlLinks ? steps : [...steps.slice(0, 2), ...steps.slice(-2)];
  return shown.slice(1).map((on, index): ChainLink => {
    const from = shown[index] ?? on;
    const between = steps.indexOf(on) - steps.indexOf(from) - 1;
    const how = between > 0 ? `led to it, over ${between} steps` : 'led to it';
    const to = on === cause.step ? (cause.pointer ?? '/output') : '/output';
    return {
      from: { step: from, pointer: '/input', name: nameAt(evidence, from) },
      to: { step: on, pointer: to, name: nameAt(evidence, on) },
      label: 'recorded',
      how,
    };
  });
}

function end(evidence: Evidence, place: Place & { readonly text: string }): End {
  const type = spotAt(evidence.view, place)?.type === 'number' ? ({ type: 'number' } as const) : {};
  return { ...place, name: nameAt(evidence, place.step), ...type };
}

function nameAt({ view }: Evidence, step: number): string {
  return view.step(step)?.name ?? 'session';
}
