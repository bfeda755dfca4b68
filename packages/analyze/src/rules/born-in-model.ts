/** A value that the failure depends on was written by the model, and nothing that it had seen holds it. */

import type { SessionView, Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { findExact } from '../match.ts';
import { nearestOf } from '../nearest.ts';
import type { Place, Span } from '../place.ts';
import { follow, nameOf, parentOf } from '../pointer.ts';
import { shown, spotAt } from '../spots.ts';
import { failureInside, isUnknownThing, isWriting } from './looks.ts';
import type { Rule, Trace } from './rule.ts';

export const bornInModel: Rule = {
  name: 'born-in-model',
  *find({ view, steps, traces, symptom }) {
    for (const { complaint, lineage } of traces) {
      if (lineage.origin !== 'model' || lineage.pieces.length > 0 || lineage.derived) continue;
      const direct = complaint.kind === 'direct';
      const unknown = isUnknownThing(symptom.text);
      const { birth } = lineage;
      const spot = spotAt(view, birth);
      const what = nameOf(complaint.place.pointer);
      if (isSetting.test(what) && isCounted(view, complaint.place, birth.text)) continue;
      const near = spot && nearestOf(view, spot);
      const hint = near ? `; nearest in sight: ${near.text}` : '';
      yield {
        step: birth.step,
        pointer: birth.pointer,
        ...(birth.range ? { range: birth.range } : {}),
        value: spot?.type === 'number' ? Number(birth.text) : birth.text,
        text: `the model wrote ${shown(view, birth)}${what === '' ? '' : ` as ${what}`}, which nothing in its sight holds${hint}`,
        score:
          direct && failedWith(steps, birth, symptom.step)
            ? 0.5
            : isConfirmed(steps, birth, symptom.step, complaint.place.step)
              ? direct && isLikeAKey(birth.text)
                ? 0.56
                : 0.4
              : direct
                ? 0.72
                : !near && isOption.test(birth.text)
                  ? 0.4
                  : unknown || near
                    ? 0.6
                    : isLikeAKey(birth.text) && !isSetting.test(what)
                      ? 0.57
                      : isAmongFound(traces, complaint.place.pointer)
                        ? 0.57
                        : 0.4,
        kind: 'act',
      };
    }
  },
};

const isSetting =
  /limit|timeout|size|count|page|offset|depth|width|height|retries|max|min|temperature|seed|note|text|content|message|body|query|reason|title|summary|description|code|script|command/i;

/** Whether the same tool was given the number before it in its last call: the next page. */
function isCounted(view: SessionView, { step, pointer }: Place, text: string): boolean {
  const own = view.step(step);
  if (own?.kind !== 'tool' || !/^\d+$/.test(text)) return false;
  for (let number = step - 1; number > 0 && number > step - mostBefore; number--) {
    const before = view.step(number);
    if (before?.name !== own.name || before.kind !== 'tool') continue;
    const value = follow(before, pointer);
    return typeof value === 'number' && value === Number(text) - 1;
  }
  return false;
}

const mostBefore = 40;

/** One of the few words that a tool's argument may be: a format, an order, a level. */
const isOption = /^\p{L}{2,14}$/u;

/** An item of a list of which other items are from results: they were copied, and this one was not. */
function isAmongFound(traces: readonly Trace[], pointer: string): boolean {
  const list = parentOf(pointer);
  if (!/\/\d+$/.test(pointer)) return false;
  return traces.some(
    ({ complaint, lineage }) => lineage.origin === 'tool' && parentOf(complaint.place.pointer) === list,
  );
}

/** An id, or a number that says something: what a model has to have from somewhere. */
function isLikeAKey(text: string): boolean {
  return (
    /\d{2}/.test(text) &&
    !/^\d{4}-\d\d/.test(text) &&
    text.length >= 4 &&
    text.length <= 40 &&
    text.split(' ').length <= 3
  );
}

/** What an earlier call was to make of it came to nothing, and said so: then that is the reason, and not the name. */
function failedWith(steps: readonly Step[], { step, text }: Span, symptom: number): boolean {
  return steps.some(
    (other) =>
      other.kind === 'tool' &&
      other.number > step &&
      other.number < symptom &&
      failureInside(other) !== undefined &&
      leavesOf(other.input).some((leaf) => leaf.text === text || isInside(text, leaf.text)),
  );
}

/** A value that another tool has since accepted, or that the model gave to something new as its name, is hardly made up. */
function isConfirmed(steps: readonly Step[], { step, text }: Span, symptom: number, place: number): boolean {
  return steps.some(
    (other) =>
      other.kind === 'tool' &&
      other.number > step &&
      other.number !== place &&
      other.number < symptom &&
      other.status === 'ok' &&
      (isWriting(other) || !failureInside(other)) &&
      leavesOf(other.input).some((leaf) => leaf.text === text || isInside(text, leaf.text)),
  );
}

/** A statement or a message that holds a number or a name as a word of its own. */
function isInside(part: string, text: string): boolean {
  return (
    part.length >= 3 && text.length > part.length && text.length < 4000 && findExact(part, text) !== undefined
  );
}
