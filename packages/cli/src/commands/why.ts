/** `chassis why`: the chain from the failure back to where it began. */
import { why as analyse, corrections, explain, type Place, prompt, type Why } from '@chassis/analyze';
import { type SessionView, stringifyJson } from '@chassis/journal';
import { type Address, isBundlePath } from '../address.ts';
import { usage } from '../failure.ts';
import { damageLines, damageRecord } from '../present/damage.ts';
import { inColourOf } from '../present/mark.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { paint } from '../terminal/screen.ts';
import { shellWord } from '../terminal/shell.ts';
import { visibleLines } from '../terminal/text.ts';

export async function why({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ prompt?: true; against?: string }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const view = await whileWaiting(out, 'reading the record…', reader.view(undefined, { whole: true }));
  const step =
    address.step === undefined || (address.step === 'fail' && address.pointer === undefined)
      ? undefined
      : await stepNumber(view, address.step);
  const about = placeOf(address, step, text);
  const good = options.against === undefined ? undefined : await openAddress(options.against, globals);
  const against =
    good && (await whileWaiting(out, 'reading the good run…', good.reader.view(undefined, { whole: true })));
  const found = analyse(view, step, { ...(against ? { against } : {}), ...(about ? { about } : {}) });
  await good?.close();
  await opened.close();
  if (options.prompt === true) {
    const asked = prompt(found, view);
    out.line(visibleLines(asked));
    return { result: { session: reader.id, prompt: asked } };
  }
  const damage = damageLines(view, name);
  for (const line of damage) out.line(line);
  if (damage.length > 0 && found.status === 'none') {
    out.line('  nothing failed in what is left of it');
    return { result: { ...found, ...damageRecord(view) } };
  }
  const [head = '', ...lines] = explain(found);
  out.line(paint('bold', head));
  for (const line of lines)
    out.line(line.trimStart().startsWith('CAUSE') ? inColourOf('failed', line) : line);
  for (const line of nextLines(found, view, name)) out.line(paint('dim', `  ${line}`));
  return { result: { ...found, ...damageRecord(view) } };
}

/** The value that the address points at: why it is what it is, is then the question. */
function placeOf({ pointer, range }: Address, step: number | undefined, text: string): Place | undefined {
  if (pointer === undefined) return undefined;
  if (step === undefined) throw usage(`${text}: which step? chassis why ID:STEP#/POINTER`);
  return range === undefined ? { step, pointer } : { step, pointer, range };
}

/**
 * What to look at, and how to prove that this was it: the fork with the bad values of that step put right, as far as the
 * record tells what is right.
 */
function nextLines(found: Why, view: SessionView, name: string): string[] {
  const { cause } = found;
  if (cause === undefined) return [];
  const show = `next     chassis show ${shellWord(`${name}:${cause.step}`)}`;
  const wrong = corrections(view, found);
  if (wrong.length === 0 || isBundlePath(name)) return [show];
  const edits = wrong.map(
    ({ pointer, value }) =>
      `--set ${shellWord(`${pointer}=${value === undefined ? 'VALUE' : stringifyJson(value)}`)}`,
  );
  const open = wrong.some(({ value }) => value === undefined)
    ? 'with the right VALUE in it'
    : 'with that put right';
  return [
    show,
    `fix      ${open}: chassis fork ${shellWord(`${name}:${cause.step}`)} ${edits.join(' ')} --run`,
  ];
}
