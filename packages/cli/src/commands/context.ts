/** `chassis context`: what the model saw at a step, block by block; what is new in it, what a cache held, what is gone. */
import { type Block, type Context, context as contextOf } from '@chassis/analyze';
import type { SessionView, Step } from '@chassis/journal';
import { usage } from '../failure.ts';
import { shortValue } from '../present/value.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';
import { count } from '../terminal/units.ts';
import { stepNamed } from './show.ts';

export async function context({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ step?: string }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  try {
    const view = await whileWaiting(out, 'reading the record…', opened.reader.view());
    const named = stepNamed(opened.address, options.step, '--step');
    const number = named === undefined ? undefined : await stepNumber(view, named);
    const at = number === undefined ? undefined : view.step(number);
    const step = askedBy(view, at, number);
    if (step === undefined) throw usage(`session ${view.header.id} asked no model up to there`);
    const found = contextOf(view, step.number);
    if (at !== undefined && at.number !== step.number)
      out.line(
        `step ${at.number} is ${at.kind} ${visible(at.name)}; step ${step.number} asked for it, on what it saw:`,
      );
    for (const line of lines(found, opened.name)) out.line(line);
    return { result: { session: opened.reader.id, ...found } };
  } finally {
    await opened.close();
  }
}

/** The model step itself; for any other, the one that asked for it, or the last before it. */
function askedBy(view: SessionView, step: Step | undefined, number: number | undefined): Step | undefined {
  if (step !== undefined && step.kind !== 'model') {
    const asked = step.causes.map((cause) => view.step(cause)).find((cause) => cause?.kind === 'model');
    if (asked !== undefined) return asked;
  }
  return view.steps.findLast((one) => one.kind === 'model' && one.number <= (number ?? view.steps.length));
}

function lines(found: Context, name: string): string[] {
  const { tokens, blocks, dropped, previous, difference } = found;
  const measured = tokens.measured === null ? '' : `, ${count(tokens.measured)} as the provider counted`;
  const cached = tokens.cached === null ? '' : `, ${count(tokens.cached)} from a cache`;
  const [head = '', ...rows] = table(columns, blocks.map(row), screenWidth());
  return [
    `${paint('bold', `${visible(name)}:${found.step}`)}  ${visible(found.model)}  about ${count(tokens.total)} tokens${measured}${cached}`,
    paint('dim', head),
    ...rows,
    ...(previous === null
      ? []
      : [`${count(tokens.new)} tokens are new since step ${previous}, ${count(tokens.dropped)} are gone`]),
    ...dropped.map(
      (block) =>
        `  gone: ${block.kind} ${visible(block.pointer)} (${count(block.tokens)}) ${shortValue(block.preview, 80)}`,
    ),
    ...(difference === null
      ? []
      : [`first difference from step ${previous}, beyond being longer: ${visible(difference.path)}`]),
  ];
}

const columns = [
  { title: '' },
  { title: 'block' },
  { title: 'from' },
  { title: 'tokens', align: 'right' },
  { title: 'cached', drop: 1 },
  { title: 'begins', shrinkTo: 20 },
] as const;

function row(block: Block): string[] {
  const { kind, tokens, isNew, cached, source, name, preview } = block;
  return [
    isNew ? '+' : '',
    kind,
    source === undefined ? '' : `:${source}${name === undefined ? '' : ` ${visible(name)}`}`,
    String(tokens),
    cached === 'unknown' ? '' : cached,
    shortValue(preview, 100),
  ];
}
