/** `chassis blame`: one value, back to where it was born. */
import { type Birth, type Lineage, type Link, lineage, type Place } from '@chassis/analyze';
import type { SessionView } from '@chassis/journal';
import { formatAddress } from '../address.ts';
import { usage } from '../failure.ts';
import { placesOf } from '../find-text.ts';
import { shortValue } from '../present/value.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { paint } from '../terminal/screen.ts';

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
}: Call<{ value?: string }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const view = await whileWaiting(out, 'reading the record…', reader.view());
  await opened.close();
  const step = address.step === undefined ? undefined : await stepNumber(view, address.step);
  const place = placeOf(view, step, address.pointer, address.range, options.value, text);
  const found = lineage(view, place);
  if (found === undefined)
    throw usage(
      `${text}: there is no text or number at ${place.pointer}; chassis show ${name}:${place.step} shows what there is`,
    );
  const at = (span: Place): string =>
    formatAddress({
      session: name,
      step: span.step,
      pointer: span.pointer,
      ...(span.range === undefined ? {} : { range: span.range }),
    });
  for (const line of lines(view, found, at)) out.line(line);
  return { result: { ...found } };
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
  if (step === undefined || pointer === undefined)
    throw usage(`${text}: which value? chassis blame ID:STEP#/POINTER, or --value TEXT`);
  return { step, pointer, ...(range === undefined ? {} : { range }) };
}

function lines(view: SessionView, found: Lineage, at: (span: Place) => string): string[] {
  const { links, birth, origin, pieces } = found;
  const name = (step: number): string =>
    step === 0 ? 'the session' : `${view.step(step)?.kind} ${view.step(step)?.name}`;
  const arrow = ({ to, how, label }: Link): string =>
    `  ← ${at(to)}  ${shortValue(to.text, 48)}  ${shortValue(how, 80)}  [${label}]`;
  return [
    `${paint('bold', shortValue(found.at.text, 60))}  ${at(found.at)}`,
    ...links.map(arrow),
    `born at ${at(birth)} (${shortValue(name(birth.step), 60)}): ${births[origin]}`,
    ...pieces.map(
      ({ range, link, origin: from }) =>
        `  characters ${range[0]}-${range[1]} from ${at(link.to)}: ${births[from]}  [${link.label}]`,
    ),
  ];
}
