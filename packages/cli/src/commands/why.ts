/** `chassis why`: the chain from the failure back to where it began. */
import { why as analyse, explain, prompt, type Why } from '@chassis/analyze';
import { isBundlePath } from '../address.ts';
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
}: Call<{ prompt?: true }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const view = await whileWaiting(out, 'reading the record…', reader.view());
  const step =
    address.step === undefined || address.step === 'fail' ? undefined : await stepNumber(view, address.step);
  const found = analyse(view, step);
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
  const next = nextCommands(found, name);
  if (next.length > 0) out.line(paint('dim', `  next     ${next.join('   ')}`));
  return { result: { ...found, ...damageRecord(view) } };
}

/** What to look at, and how to prove that this was it: the bad values of that step, to be filled in. */
function nextCommands({ cause, also }: Why, name: string): string[] {
  if (cause === undefined) return [];
  const show = `chassis show ${shellWord(`${name}:${cause.step}`)}`;
  const bad = [cause, ...also.filter(({ step }) => step === cause.step)]
    .map(({ pointer }) => pointer)
    .filter((pointer) => pointer?.startsWith('/output') === true);
  if (bad.length === 0 || cause.kind === 'model' || isBundlePath(name)) return [show];
  const edits = [...new Set(bad)].slice(0, 4).map((pointer) => `--set ${shellWord(`${pointer}=JSON`)}`);
  return [show, `chassis fork ${name}:${cause.step} ${edits.join(' ')} --run`];
}
