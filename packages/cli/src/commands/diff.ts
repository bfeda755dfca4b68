/** `chassis diff`: two sessions side by side; a fork and its parent differ from the edited step on. */
import { diff as compare, type Diff, type Difference, type Row, type RunSummary } from '@chassis/analyze';
import { ExitCode } from '@chassis/errors';
import { usage } from '../failure.ts';
import { shortValue } from '../present/value.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress } from '../sessions.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';
import { count, money } from '../terminal/units.ts';

export async function diff({ args: [first = '', second = ''], globals, out }: Call): Promise<Ending> {
  const a = await openAddress(first, globals);
  const b = await openAddress(second, globals);
  for (const one of [a, b])
    if (one.address.step !== undefined || one.address.pointer !== undefined)
      throw usage(`diff compares whole sessions: chassis diff ${a.name} ${b.name}`);
  const views = Promise.all([
    a.reader.view(undefined, { whole: true }),
    b.reader.view(undefined, { whole: true }),
  ]);
  const found = compare(...(await whileWaiting(out, 'reading the records…', views)));
  await a.close();
  await b.close();
  const equal = found.first === null && found.end === null;
  for (const line of lines(found, a.name, b.name)) out.line(line);
  return { exit: equal ? ExitCode.ok : ExitCode.failed, result: { equal, ...found } };
}

function lines(found: Diff, a: string, b: string): string[] {
  const head = [summary('a', a, found.a), summary('b', b, found.b)];
  const same = `${found.same} leading step${found.same === 1 ? ' is' : 's are'} the same`;
  if (found.first === null && found.end === null) return [...head, `no difference: ${same}`];
  return [
    ...head,
    same,
    ...rows(found.rows),
    ...(found.first?.difference === undefined
      ? []
      : [
          '',
          `first difference: step ${found.first.a} of a, step ${found.first.b} of b`,
          ...sides(found.first.difference),
        ]),
    ...(found.end === null ? [] : ['', 'the ends differ:', ...sides(found.end)]),
  ];
}

function summary(side: string, name: string, { outcome, steps, cost }: RunSummary): string {
  const facts = [
    outcome,
    `${steps} steps`,
    `${count(cost.input)}→${count(cost.output)} tokens`,
    money(cost.cost_usd),
  ];
  return `${paint('bold', side)} ${visible(name)}  ${facts.filter((fact) => fact !== '').join(' · ')}`;
}

const words = { same: '', changed: 'differs', only_a: 'only in a', only_b: 'only in b' } as const;

function rows(found: readonly Row[]): string[] {
  if (found.length === 0) return [];
  const cells = found.map(({ a, b, kind, name, change, difference }) => [
    a === null ? '' : String(a),
    b === null ? '' : String(b),
    kind,
    visible(name),
    words[change],
    difference === undefined ? '' : visible(difference.path),
  ]);
  const [head = '', ...body] = table(
    [
      { title: 'a', align: 'right' },
      { title: 'b', align: 'right' },
      { title: 'kind', drop: 1 },
      { title: 'name', shrinkTo: 8 },
      {
        title: 'change',
        paint: (cell, row) => (found[row]?.change === 'same' ? cell : paint('yellow', cell)),
      },
      { title: 'at', shrinkTo: 10 },
    ],
    cells,
    screenWidth(),
  );
  return [paint('dim', head), ...body];
}

function sides({ path, expected, actual }: Difference): string[] {
  const side = (value: unknown): string => (value === undefined ? 'nothing' : shortValue(value, 200));
  return [`  at ${visible(path)}`, `  a: ${side(expected)}`, `  b: ${side(actual)}`];
}
