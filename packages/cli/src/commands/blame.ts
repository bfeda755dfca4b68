/** `chassis blame`: one value, back to where it was born, or forward to where it went. */
import {
  type Birth,
  type Derived,
  forward,
  type Lineage,
  type Link,
  lineage,
  type Place,
  type Span,
  valuesBelow,
} from '@chassis/analyze';
import type { SessionView } from '@chassis/journal';
import { addressIn } from '../address.ts';
import { usage } from '../failure.ts';
import { placesOf } from '../find-text.ts';
import { shortValue } from '../present/value.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { paint } from '../terminal/screen.ts';
import { shellWord } from '../terminal/shell.ts';

const births: Readonly<Record<Birth, string>> = {
  tool: 'a tool brought it in',
  user: 'the person wrote it',
  system: 'it stands in the instructions',
  model: 'the model wrote it, and nothing that it saw holds it',
  clock: 'it was read from the clock or from chance',
  agent: "the agent's own code made it",
  unknown: 'the record does not show who brought it in',
};

export async function blame({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ value?: string; forward?: true }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const view = await whileWaiting(out, 'reading the record…', reader.view(undefined, { whole: true }));
  await opened.close();
  // Step 0 is the session itself: what the person said, and what was read from the clock.
  const step =
    address.step === undefined || address.step === 0 ? address.step : await stepNumber(view, address.step);
  const place = placeOf(view, step, address.pointer, address.range, options.value, text);
  const found = lineage(view, place);
  if (found === undefined) throw usage(nothingAt(view, place, name, text));
  const at = (span: Place): string =>
    addressIn(name, {
      step: span.step,
      pointer: span.pointer,
      ...(span.range === undefined ? {} : { range: span.range }),
    });
  if (options.forward === true) {
    const links = forward(view, place) ?? [];
    for (const line of forwardLines(found.at, links, at)) out.line(line);
    return { result: { at: found.at, links } };
  }
  for (const line of lines(view, found, at)) out.line(line);
  return { result: { ...found } };
}

/** What to say when no single value stands at a place: where the values below it are, when it holds some. */
function nothingAt(view: SessionView, place: Place, name: string, text: string): string {
  const inside = valuesBelow(view, place).slice(0, 3);
  const here = place.step === 0 ? name : `${name}:${place.step}`;
  if (inside.length === 0)
    return `${text}: ${whatIsThere(view, place, name) ?? `there is no text or number at ${place.pointer}; chassis show ${shellWord(here)} shows what there is`}`;
  const examples = inside.map((one) => addressIn(name, one)).join(', ');
  return `${text}: a whole object or list stands at ${place.pointer || '/'}; name one value of it, such as ${examples}`;
}

/** Where a pointer leaves what there is, and what stands there instead. */
function whatIsThere(view: SessionView, { step, pointer }: Place, name: string): string | undefined {
  for (let at = pointer; at !== ''; ) {
    at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    const inside = valuesBelow(view, { step, pointer: at });
    if (inside.length === 0) continue;
    const near = inside
      .slice(0, 4)
      .map((one) => addressIn(name, one))
      .join(', ');
    const left = inside.length > 4 ? ` and ${inside.length - 4} more` : '';
    return `nothing stands at ${pointer}; in ${at === '' ? 'this step' : at} there are ${near}${left}`;
  }
  return undefined;
}

function forwardLines(from: Span, links: readonly Link[], at: (span: Place) => string): string[] {
  const head = `${paint('bold', shortValue(from.text, 60))}  ${at(from)}`;
  if (links.length === 0) return [head, '  nothing later carries it'];
  return [
    head,
    ...links.map(
      (link) =>
        `  → ${at(link.from)}  ${shortValue(link.from.text, 48)}  ${shortValue(link.how, 80)}  [${link.label}]`,
    ),
  ];
}

function placeOf(
  view: SessionView,
  step: number | undefined,
  pointer: string | undefined,
  range: readonly [number, number] | undefined,
  value: string | undefined,
  text: string,
): Place {
  if (value !== undefined) {
    const [first] = placesOf(view, value, step);
    if (first === undefined)
      throw usage(
        `${JSON.stringify(value)} stands nowhere in ${step === undefined ? 'the steps of this session' : `step ${step}`}`,
      );
    return first;
  }
  if (step === undefined && pointer !== undefined) return placeOf(view, 0, pointer, range, value, text);
  if (step === undefined || pointer === undefined)
    throw usage(`${text}: which value? chassis blame ID:STEP#/POINTER, or --value TEXT`);
  return { step, pointer, ...(range === undefined ? {} : { range }) };
}

function lines(view: SessionView, found: Lineage, at: (span: Place) => string): string[] {
  const { links, birth, origin, pieces, derived } = found;
  const name = (step: number): string =>
    step === 0 ? 'the session' : `${view.step(step)?.kind} ${view.step(step)?.name}`;
  const arrow = ({ to, how, label }: Link): string =>
    `  ← ${at(to)}  ${shortValue(to.text, 48)}  ${shortValue(how, 80)}  [${label}]`;
  return [
    `${paint('bold', shortValue(found.at.text, 60))}  ${at(found.at)}`,
    ...links.map(arrow),
    `born at ${at(birth)} (${shortValue(name(birth.step), 60)}): ${derived && origin === 'model' ? 'the model worked it out' : births[origin]}`,
    ...derivedLines(derived, at),
    ...pieces.map(
      ({ range, link, origin: from }) =>
        `  characters ${range[0]}-${range[1]} from ${at(link.to)}: ${births[from]}  [${link.label}]`,
    ),
  ];
}

const mostSources = 8;

function derivedLines(derived: Derived | undefined, at: (span: Place) => string): string[] {
  if (derived === undefined) return [];
  const { of, how, label } = derived;
  const left = of.length - mostSources;
  return [
    `  it is ${how}:  [${label}]`,
    ...of.slice(0, mostSources).map((span) => `    ${at(span)}  ${shortValue(span.text, 48)}`),
    ...(left > 0 ? [`    … and ${left} more`] : []),
  ];
}
