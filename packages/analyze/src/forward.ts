/**
 * Where a value went: every later place that carries it, nearest first.
 *
 * The same judge as for lineage: each link leads from the later place back to the value, and the bytes support it.
 */
import type { SessionView, Step } from '@chassis/journal';
import { hold } from './hold.ts';
import { hopFrom, type Link } from './hops.ts';
import { isSupported } from './lineage.ts';
import { type Form, findExact, formText, otherForms } from './match.ts';
import { sameName } from './names.ts';
import { addedOrigins } from './origins.ts';
import { addressOf, type Place, type Span } from './place.ts';
import { isDistinctive } from './search.ts';
import { type Spot, spotAt, spotsOf } from './spots.ts';

const most = 200;

/**
 * The later places that carry the string or number at a place: requests that show its step's result, what models wrote,
 * arguments of tools and what they gave back. Undefined when nothing stands there, or an array or object does.
 */
export function forward(given: SessionView, place: Place): Link[] | undefined {
  const view = hold(given);
  const source = spotAt(view, place);
  if (!source) return undefined;
  const match = matcher(source);
  const links: Link[] = [];
  for (const step of view.steps) {
    if (step.number < source.step || links.length >= most) continue;
    links.push(...shown(view, step, source), ...carried(view, step, source, match));
  }
  const places = new Map(links.map((link) => [addressOf(link.from), link]));
  return [...places.values()].filter((link) => isSupported(view, link)).slice(0, most);
}

/** The first request in which the value stands in the message made of its step's data. */
function shown(view: SessionView, step: Step, source: Spot): Link[] {
  return addedOrigins(view, step.number).flatMap(({ first, source: origin }): Link[] => {
    if (origin?.step.number !== source.step) return [];
    if (!source.pointer.startsWith(origin.pointer)) return [];
    const spots = spotsOf(view, step.number, `${first.pointer}/content`);
    const inside = source.pointer.slice(origin.pointer.length);
    const exact = spots.find((spot) => spot.text === source.text && spot.path.endsWith(`/content/${inside}`));
    const found = exact ?? spots.find((spot) => spot.text === source.text);
    const label = exact && origin.label === 'recorded' ? 'recorded' : 'inferred';
    return found ? [link(found, source, 'exact', label, 'shown to the model')] : [];
  });
}

/** Copies in a step's own data. */
function carried(view: SessionView, step: Step, source: Spot, match: Matcher): Link[] {
  const own = (root: string): boolean => step.number === source.step && source.pointer.startsWith(root);
  const before = step.number === source.step && !source.pointer.startsWith('/input');
  const roots = step.kind === 'model' ? ['/output/message'] : before ? [] : ['/input', '/output', '/error'];
  return roots
    .filter((root) => !own(root))
    .flatMap((root) => spotsOf(view, step.number, root))
    .flatMap((spot): Link[] => {
      const found = match(spot);
      if (!found || spot.pointer === source.pointer) return [];
      // What is recorded backwards is so forwards: an argument is what the model wrote.
      const hop =
        spot.pointer.startsWith('/input') && found.form === 'exact' ? hopFrom(view, spot) : undefined;
      const back = hop !== undefined && hop !== 'ambiguous' ? hop.link : undefined;
      const fact = back?.label === 'recorded' && addressOf(back.to) === addressOf(source);
      const how =
        step.kind === 'model' ? 'written by the model' : `in ${spot.pointer.split('/')[1]} of ${step.name}`;
      return [link({ ...spot, ...found.at }, source, found.form, fact ? 'recorded' : 'inferred', how)];
    });
}

type Matcher = (
  spot: Spot,
) => { form: Form; at: { range?: readonly [number, number]; text: string } } | undefined;

function matcher(source: Spot): Matcher {
  const distinctive = isDistinctive(source.text);
  const otherForm = otherForms(source.text);
  return (spot) => {
    if (spot.text === source.text) {
      return distinctive || sameName(source.name, spot.name)
        ? { form: 'exact', at: { text: spot.text } }
        : undefined;
    }
    if (!distinctive || spot.type === 'boolean' || spot.type === 'null') return undefined;
    const found = findExact(source.text, spot.text) ?? otherForm(spot.text);
    if (!found) return undefined;
    const whole = found.range[0] === 0 && found.range[1] === spot.text.length;
    if (whole) return { form: found.form, at: { text: spot.text } };
    if (spot.range || spot.type !== 'string') return undefined;
    return { form: found.form, at: { range: found.range, text: spot.text.slice(...found.range) } };
  };
}

function link(from: Spot, to: Spot, form: Form, label: Link['label'], how: string): Link {
  return {
    from: span(from),
    to: span(to),
    label,
    form,
    how: form === 'exact' ? how : `${how} (${formText[form]})`,
  };
}

function span({ step, pointer, text, range }: Spot): Span {
  return range ? { step, pointer, text, range } : { step, pointer, text };
}
