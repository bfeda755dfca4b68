import { describe, expect, test } from 'vitest';
import { ToolCallAssembly } from './tool-calls.ts';

/** The calls that pieces `[index, id, name, arguments]` make. */
function assemble(...pieces: [number | null, string | null, string | null, unknown][]): unknown[] {
  const assembly = new ToolCallAssembly();
  for (const [index, id, name, args] of pieces)
    assembly.add({ index, id, function: { name, arguments: args } });
  return assembly.calls((n) => `new_${n}`).map((call) => [call.id, call.name, call.arguments]);
}

describe('pieces of tool calls', () => {
  test('interleaved pieces find their call by index', () => {
    expect(
      assemble(
        [0, 'a', 'f', ''],
        [1, 'b', 'g', ''],
        [0, null, null, '{"x":'],
        [1, '', null, '{}'],
        [0, null, null, '1}'],
      ),
    ).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'g', '{}'],
    ]);
  });

  test('indexes with gaps, and an index that appears late', () => {
    expect(assemble([0, 'a', 'f', '{}'], [5, 'b', 'g', '{'], [5, null, null, '}'])).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '{}'],
    ]);
    expect(assemble([null, 'a', 'f', '{'], [0, null, null, '}'])).toEqual([['a', 'f', '{}']]);
  });

  test('an id and a name on every piece', () => {
    expect(
      assemble([0, 'a', 'f', '{"x"'], [0, 'a', 'f', ':1}'], [1, 'b', 'f', '{"x"'], [1, 'b', 'f', ':2}']),
    ).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{"x":2}'],
    ]);
  });

  test('no id and no index at all: whole calls after each other', () => {
    expect(
      assemble(
        [null, null, 'f', '{"x":1}'],
        [null, null, 'f', '{"x":2}'],
        [0, null, 'g', '{}'],
        [0, null, 'g', '{}'],
      ),
    ).toEqual([
      ['new_0', 'f', '{"x":1}'],
      ['new_1', 'f', '{"x":2}'],
      ['new_2', 'g', '{}'],
      ['new_3', 'g', '{}'],
    ]);
  });

  test('an id that comes late belongs to the call that is being built', () => {
    expect(assemble([0, '', 'f', '{"x"'], [0, 'late', null, ':1}'])).toEqual([['late', 'f', '{"x":1}']]);
  });

  test('a name in pieces, and arguments that are an object', () => {
    expect(assemble([0, 'a', 'put_', ''], [0, null, 'note', ''], [0, null, null, '{}'])).toEqual([
      ['a', 'put_note', '{}'],
    ]);
    expect(assemble([0, 'a', 'f', { x: 1 }])).toEqual([['a', 'f', '{"x":1}']]);
  });

  test('one id for two calls becomes two ids', () => {
    expect(assemble([0, 'a', 'f', '{}'], [1, 'a', 'g', '{}'], [2, 'a', 'h', '{}'])).toEqual([
      ['a', 'f', '{}'],
      ['a_2', 'g', '{}'],
      ['a_3', 'h', '{}'],
    ]);
  });

  test('an empty piece is no call, and what is no piece is no error', () => {
    const assembly = new ToolCallAssembly();
    for (const piece of [null, 7, 'x', [], {}, { index: 0, function: null }, { function: { name: 3 } }])
      assembly.add(piece);
    expect(assembly.calls(String)).toEqual([]);
  });

  test('the chunks that it answers add up to the calls', () => {
    const assembly = new ToolCallAssembly();
    const added = [
      { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } },
      { index: 0, id: 'b', function: { name: 'g', arguments: '' } },
      { index: 0, function: { arguments: '{}' } },
    ].map((piece) => assembly.add(piece));
    expect(added).toEqual([
      { index: 0, id: 'a', name: 'f', arguments: '{"x"' },
      { index: 1, id: 'b', name: 'g' },
      { index: 1, arguments: '{}' },
    ]);
  });
});
