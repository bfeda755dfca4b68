/** Something older came after something newer: an event, a version or a state that was overtaken, and was taken for the newest. */
import type { Step } from '@chassis/journal';
import { type Leaf, outputLeaves } from '../json.ts';
import { lastKey, shapeOf } from '../pointer.ts';
import type { Rule, Suspect } from './rule.ts';

const orderName =
  /^(?:seq|sequence|sequence_?(?:no|number)|offset|revision|rev|generation|epoch|event_?(?:no|number)|lsn|block|height)$/i;
/** What a queue calls the things that it hands out. */
const idName = /^(?:message_?id|event_?id|delivery_?id|notification_?id|receipt_?id|update_?id)$/i;
const mostLeaves = 100;

export const outOfOrder: Rule<readonly Leaf[]> = {
  name: 'out-of-order',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const found = outputLeaves(output)
      .slice(0, mostLeaves)
      .filter(
        ({ pointer, value }) =>
          (typeof value === 'number' && orderName.test(lastKey(pointer))) || idName.test(lastKey(pointer)),
      );
    return found.length > 0 ? found : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, calls } of tools) {
      yield* cameAgain(name, calls, seen);
      const newest = new Map<string, { readonly step: number; readonly value: number }>();
      // Who looks a list through from its end has chosen that order.
      const falls = calls.length > 2 && calls.every(({ number }) => isFalling(seen.get(number) ?? []));
      for (const { number } of falls ? [] : calls) {
        const own = (seen.get(number) ?? []).filter(({ value }) => typeof value === 'number');
        for (const { pointer, value } of own) {
          const before = newest.get(shapeOf(pointer));
          if (before === undefined || before.step === number || Number(value) >= before.value) continue;
          const text = `${lastKey(pointer)} is ${Number(value)} here, and ${name} had given ${before.value} at :${before.step} already`;
          yield { step: number, pointer, value, text, score: 0.7, kind: 'value' };
          break;
        }
        for (const { pointer, value } of own) {
          const shape = shapeOf(pointer);
          const known = newest.get(shape);
          if (known === undefined || Number(value) > known.value)
            newest.set(shape, { step: number, value: Number(value) });
        }
      }
    }
  },
};

/** A message that was handed out, was gone from the results between, and was handed out again. */
function* cameAgain(
  tool: string,
  calls: readonly Step[],
  seen: ReadonlyMap<number, readonly Leaf[]>,
): Generator<Suspect> {
  /** By the message, the call that had it last. */
  const last = new Map<string, { readonly step: number; readonly call: number }>();
  for (const [call, { number }] of calls.entries())
    for (const { pointer, value, text } of seen.get(number) ?? []) {
      if (!idName.test(lastKey(pointer))) continue;
      const before = last.get(text);
      last.set(text, { step: number, call });
      if (!before || before.call >= call - 1) continue;
      const said = `${lastKey(pointer)} ${text} had come at :${before.step} already, and ${tool} handed it out again`;
      yield { step: number, pointer, value, text: said, score: 0.77, kind: 'value' };
    }
}

function isFalling(leaves: readonly Leaf[]): boolean {
  return leaves.every(({ value }, index) => index === 0 || Number(value) <= Number(leaves[index - 1]?.value));
}
