/** `chassis cost`: tokens and money of a session. What is not known is never counted as nothing. */
import { type Cost, cost as costOf } from '@chassis/analyze';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress } from '../sessions.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';
import { money } from '../terminal/units.ts';

export async function cost({ args: [text = ''], globals, out }: Call): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const view = await whileWaiting(out, 'reading the record…', opened.reader.view(undefined, { whole: true }));
  await opened.close();
  const found = costOf(view);
  const row = (name: string, sum: Cost): string[] => [
    name,
    String(sum.requests),
    String(sum.input),
    String(sum.cached),
    String(sum.output),
    String(sum.reasoning),
    sum.cost_usd === null ? 'unknown' : `${money(sum.cost_usd)}${sum.lower_bound ? '+' : ''}`,
  ];
  const rows = [...found.models.map((sum) => row(visible(sum.model), sum)), row('total', found.total)];
  const numbers = ['requests', 'input', 'cached', 'output', 'reasoning', 'cost'].map(
    (title, at) => ({ title, align: 'right', ...(at === 0 || at === 3 ? { drop: 5 - at } : {}) }) as const,
  );
  const [head = '', ...lines] = table([{ title: 'model', shrinkTo: 8 }, ...numbers], rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of lines) out.line(line);
  const { unknown_usage, unknown_price, inconsistent } = found.total;
  if (unknown_usage > 0)
    out.line(`${unknown_usage} request(s) without usage from the provider: the true figures are higher`);
  if (unknown_price > 0) out.line(`${unknown_price} request(s) whose price is not known`);
  if (inconsistent) out.line("a provider's figures contradict each other");
  return { result: { session: opened.reader.id, ...found } };
}
