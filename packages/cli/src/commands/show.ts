/** `chassis show`: a session, a step, or one value. */
import type { SessionView } from '@chassis/journal';
import { getPointer, lostBlobIn } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import { type Address, addressIn, type StepName, stepOf } from '../address.ts';
import { usage } from '../failure.ts';
import { damageLines, damageRecord } from '../present/damage.ts';
import { sessionLines, sessionRecord } from '../present/session.ts';
import { stepLines, stepRecord } from '../present/step.ts';
import { fullValue } from '../present/value.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';

export async function show({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ step?: string }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const view = await whileWaiting(out, 'reading the record…', reader.view());
  const named = stepNamed(address, options.step, '--step');
  if ((named === undefined || named === 0) && address.pointer === undefined) {
    const summary = await opened.summary();
    const session = sessionRecord(view, summary);
    const lines = sessionLines(view, name, summary);
    for (const line of [...damageLines(view, name), ...lines]) out.line(line);
    await opened.close();
    return { result: { session, ...damageRecord(view) } };
  }
  // Step 0 is the session itself, where what the person said stands.
  const number = named === undefined || named === 0 ? 0 : await stepNumber(view, named);
  const { session: _, ...place } = address;
  const here = addressIn(name, { ...place, ...(named === undefined ? {} : { step: number }) });
  if (address.pointer !== undefined) {
    const value = valueAt(view, number, address);
    out.line(fullValue(value));
    if (lostBlobIn(value)) for (const line of damageLines(view, name)) out.note(line);
    await opened.close();
    return { result: { address: here, value, ...damageRecord(view) } };
  }
  const { statuses, statusText } = await import('@chassis/analyze');
  const step = view.step(number);
  const four = step && statuses(view, step);
  const lines = stepLines(view, number, name, four && statusText(four));
  for (const line of [...damageLines(view, name), ...lines]) out.line(line);
  await opened.close();
  return {
    result: {
      address: here,
      step: stepRecord(view, number),
      ...(four === undefined ? {} : { statuses: four }),
      ...damageRecord(view),
    },
  };
}

/** The step of an address, or of the option; both must not name different ones. */
export function stepNamed(address: Address, option: string | undefined, flag: string): StepName | undefined {
  if (option === undefined) return address.step;
  const step = stepOf(option);
  if (step === undefined) throw usage(`${flag} ${option}: a step is a number, fail, cause or end`);
  if (address.step !== undefined && address.step !== step)
    throw usage(`the address names step ${address.step} and ${flag} names step ${step}: give one of them`);
  return step;
}

/** What an address points at; without a step the pointer roots at the session. */
function valueAt(view: SessionView, number: number, { pointer = '', range }: Address): Json {
  const root: JsonObject =
    number === 0
      ? ({ header: view.header, turns: view.turns, values: view.values } as unknown as JsonObject)
      : stepRecord(view, number);
  const value = getPointer(root, pointer);
  if (range === undefined) return value;
  if (typeof value !== 'string')
    throw usage(`@${range[0]}-${range[1]} is a range in a text, and ${pointer} is none`);
  if (range[1] > value.length)
    throw usage(
      `@${range[0]}-${range[1]} goes beyond the text at ${pointer}, which has ${value.length} UTF-16 units`,
    );
  return value.slice(...range);
}
