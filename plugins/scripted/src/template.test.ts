import { describe, expect, test } from 'vitest';
import { factsOf } from './conversation.ts';
import { compileText, compileValue } from './template.ts';

const facts = {
  results: { orders: [{ page: 1, rows: [{ amount: 2 }, { amount: 3.5 }] }], note: ['text'] },
  turn: 4,
};
const value = (source: unknown): Promise<unknown> =>
  compileValue(source as never, '', (_, error) => {
    throw error;
  })(facts);

describe('expressions in a script', () => {
  test('a string that is one expression gives the value with its type', async () => {
    expect(JSON.stringify(await value('{{ results.orders[-1].rows.amount }}'))).toBe('[2,3.5]');
    expect(await value('  {{turn}}\n')).toBe(4);
    expect(await value('{{ results.orders[0].rows[0] }}')).toEqual({ amount: 2 });
    expect(await value('{{ false }}')).toBe(false);
    expect(await value('{{ null }}')).toBe(null);
    expect(await value({ a: ['{{ turn }}', 'x', 1, null], b: { c: '{{ results.note[0] }}' } })).toEqual({
      a: [4, 'x', 1, null],
      b: { c: 'text' },
    });
  });

  test('one that gives nothing says what there is', async () => {
    const known = {
      results: { count: [{ n: 1 }] },
      errors: { count: ['x'], fetch: ['KeyError: no'] },
      turn: 3,
    };
    const said = async (source: string): Promise<string> =>
      compileText(`{{ ${source} }}`)(known).catch((error: Error) =>
        error.message.replace(/.*gave nothing/, ''),
      );
    expect(await said('results.fetch[-1].y')).toBe(
      ': results.fetch has 0 entries; errors.fetch has 1: "KeyError: no"',
    );
    expect(await said('results.count[0].m')).toBe(': results.count has 1 entry; errors.count has 1: "x"');
    expect(await said('results.cuont[0].n')).toBe(': there are results and errors of count, fetch');
    expect(await said('nothing')).toBe('');
  });

  test('inside a text a value is written as text', async () => {
    expect(
      await compileText('{{turn}} of {{ results.orders.rows.amount }}, {{ results.note[0] }}')(facts),
    ).toBe('4 of [2,3.5], text');
    expect(await compileText('no expression')(facts)).toBe('no expression');
    expect(await compileText('')(facts)).toBe('');
  });

  test('an expression may itself hold closing braces', async () => {
    expect(await value('{{ {"a": {"b": turn}} }}')).toEqual({ a: { b: 4 } });
    expect(await value('{{{"a": {"b": turn}}}}')).toEqual({ a: { b: 4 } });
    expect(await compileText('{{ "}}" }} and {{ "{{" }}')(facts)).toBe('}} and {{');
  });

  test('what cannot be used is found when it is compiled', () => {
    expect(() => compileText('{{ results.[ }}')).toThrow('"results.[" is no JSONata expression');
    expect(() => compileText('text {{ turn')).toThrow('this {{ has no }}');
    expect(() => compileText('{{ }}')).toThrow('is no JSONata expression');
  });

  test('an expression that gives nothing, fails, or asks for chance or the clock is an error', async () => {
    await expect(value('{{ results.none }}')).rejects.toThrow('{{ results.none }} gave nothing');
    await expect(compileText('a {{ results.none }} b')(facts)).rejects.toThrow('gave nothing');
    await expect(value('{{ $sum("x") }}')).rejects.toThrow('{{ $sum("x") }}: ');
    for (const source of ['$now()', '$millis()', '$random()', '$shuffle([1,2])']) {
      await expect(value(`{{ ${source} }}`)).rejects.toThrow('must answer the same way every time');
    }
  });

  test('numbers that a double cannot hold are handed on digit by digit', async () => {
    const text = '{"id":9007199254740993,"price":0.1000000000000000055,"plain":1.50,"big":1e400,"e":1E2}';
    const seen = factsOf(
      [
        { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'get', arguments: '{}' }] },
        { role: 'tool', tool_call_id: 'c', content: text },
      ],
      2,
    );
    const whole = await compileValue(
      { all: '{{ results.get[-1] }}', id: '{{ results.get[-1].id }}' },
      '',
      () => {},
    )(seen);
    expect(JSON.stringify(whole)).toBe(
      '{"all":{"id":9007199254740993,"price":0.1000000000000000055,"plain":1.5,"big":1e400,"e":100},"id":9007199254740993}',
    );
    expect(await compileText('id {{ results.get[-1].id }}')(seen)).toBe('id 9007199254740993');
  });
});
