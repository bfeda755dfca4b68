/**
 * One hop backwards: from the place where a value stands to the place it was taken from.
 *
 * `recorded` is said only of what the record itself states: an argument is the text that the model wrote, a message is the
 * data of the step that it was made of. What somebody copied is `inferred` from equal bytes.
 */
import type { SessionView, Step } from '@chassis/journal';
import { type Holder, holdersOfInput, holdersOfOutput, own, writersFor } from './holders.ts';
import { locate, writtenRange } from './json-text.ts';
import { type Form, formText } from './match.ts';
import { callOf, type Label, originsOf } from './origins.ts';
import type { Place, Span } from './place.ts';
import { keysOf, pointer } from './pointer.ts';
import { search } from './search.ts';
import { type Spot, spotAt, spotsOf } from './spots.ts';

/** What stands at `from` was taken from `to`, which is earlier. */
export interface Link {
  readonly from: Span;
  readonly to: Span;
  readonly label: Label;
  /** For people: who did it, and in which form. */
  readonly how: string;
  readonly form: Form;
}

/** A hop, that there is none, or that several places could be the source. */
export type Hop = { readonly link: Link; readonly to: Spot } | 'ambiguous' | undefined;

/** The hop from a place to where its value was taken from. */
export function hopFrom(view: SessionView, at: Spot): Hop {
  const step = view.step(at.step);
  if (!step) return undefined;
  const root = keysOf(at.pointer)[0];
  if (root === 'input') return step.kind === 'model' ? carried(view, step, at) : argument(view, step, at);
  if (root === 'output' || root === 'error') return copied(view, step, at);
  return undefined;
}

/** A message of a request is the data of the step that it came from. */
function carried(view: SessionView, step: Step, at: Spot): Hop {
  const index = keysOf(at.pointer)[1] === 'messages' ? Number(keysOf(at.pointer)[2]) : -1;
  const origin = originsOf(view, step.number)[index];
  if (!origin) return undefined;
  if (!origin.source) {
    const first = {
      step: origin.first.step,
      pointer: at.pointer.replace(/^\/input\/messages\/\d+/, origin.first.pointer),
    };
    if (at.step !== first.step) {
      const earlier = spotAt(view, at.range ? { ...first, range: at.range } : first);
      return earlier && hop(at, earlier, 'recorded', 'exact', 'the same message, first sent here');
    }
    // What an agent inside a call is told, it has from that call.
    const caller = step.parent === null ? undefined : view.step(step.parent);
    return caller && sought(view, at, [own(caller)]);
  }
  const { step: source, pointer: from } = origin.source;
  const kind = source.kind === 'model' ? 'model' : 'tool';
  const how = kind === 'model' ? 'the model wrote this message' : `result of ${source.name}`;
  const inside = spotAt(view, sameIn(source.number, from, at));
  const same = inside ?? (at.range && spotAt(view, { step: source.number, pointer: from, range: at.range }));
  if (same?.text === at.text) return hop(at, same, origin.source.label, 'exact', how);
  const { hit } = search(view, at, [{ step: source.number, root: from, kind, order: source.number }]);
  const found = hit && spotAt(view, hit.place);
  return found && hop(at, found, 'inferred', hit.form, how);
}

/** The place in a step's data that a place in the message made of it must be, if the message is that data. */
function sameIn(step: number, root: string, at: Spot): Place {
  const tail = at.pointer.replace(/^\/input\/messages\/\d+/, '');
  if (root === '/output/message')
    return { step, pointer: root + tail, ...(at.range ? { range: at.range } : {}) };
  const inner = at.path.slice(at.pointer.length + 1);
  if (at.range && inner !== '') return { step, pointer: root + inner };
  return { step, pointer: root, ...(at.range ? { range: at.range } : {}) };
}

/** An argument was written by the model that made the call, or put together by the agent. */
function argument(view: SessionView, step: Step, at: Spot): Hop {
  const call = callOf(view, step);
  if (!call) return sought(view, at, holdersOfInput(view, step));
  const model = call.model.number;
  const written = locate(call.text, at.pointer.slice('/input'.length));
  if (written) {
    const range = at.range ? writtenRange(call.text, written, at.range) : written.range;
    const to = spotAt(view, { step: model, pointer: call.pointer, range });
    if (to?.text === at.text)
      return hop(at, to, 'recorded', 'exact', 'the model wrote it as an argument of this call');
  }
  return sought(view, at, [{ step: model, root: call.pointer, kind: 'model', order: model }]);
}

/** What a model or a tool gave out may be a copy of what it was given. */
function copied(view: SessionView, step: Step, at: Spot): Hop {
  const found = sought(view, at, holdersOfOutput(view, step));
  if (step.kind !== 'model') {
    // A tool has sources of its own: that a short value is also in its arguments says nothing.
    if (found && found !== 'ambiguous' && found.link.label !== 'guess') return found;
    const named = new Set(spotsOf(view, step.number, '/input').map(({ text }) => text));
    const wrote = sought(view, at, writersFor(view, step, named).map(own));
    return wrote && wrote !== 'ambiguous' && wrote.link.label !== 'guess' ? wrote : undefined;
  }
  if (found) return found;
  if (!at.pointer.startsWith('/output/message/tool_calls')) return undefined;
  const thoughts = ['reasoning', 'content'].map(
    (part): Holder => ({
      step: step.number,
      root: pointer('output', 'message', part),
      kind: 'model',
      order: step.number,
    }),
  );
  return sought(view, at, thoughts);
}

function sought(view: SessionView, at: Spot, holders: readonly Holder[]): Hop {
  const { hit, ambiguous } = search(view, at, holders);
  if (!hit) return ambiguous ? 'ambiguous' : undefined;
  const to = spotAt(view, hit.place);
  const how = sourceText(view, hit.holder);
  if (!hit.guess) return to && hop(at, to, 'inferred', hit.form, how);
  return to && hop(at, to, 'guess', hit.form, `${how}, the only place in sight that has it`);
}

/** Who gave a value on, in words. */
export function sourceText(view: SessionView, holder: Holder): string {
  const name = view.step(holder.step)?.name ?? 'the session';
  switch (holder.kind) {
    case 'tool':
      return `copied from the result of ${name}`;
    case 'model':
      return holder.root.endsWith('reasoning')
        ? "copied from the model's reasoning"
        : 'copied from what the model wrote';
    case 'user':
      return "copied from the person's message";
    case 'system':
      return 'copied from the instructions';
    case 'clock':
      return 'read from the clock or from chance';
    case 'input':
      return `copied from the arguments of ${name}`;
  }
}

function hop(from: Spot, to: Spot, label: Label, form: Form, how: string): Hop {
  const text = form === 'exact' ? how : `${how} (${formText[form]})`;
  return { to, link: { from: span(from), to: span(to), label, form, how: text } };
}

/** A spot as the end of a link. */
export function span(spot: Spot): Span {
  const place = { step: spot.step, pointer: spot.pointer, text: spot.text };
  return spot.range ? { ...place, range: spot.range } : place;
}
