/** Calls that no tool could take: the failure says why, and the answer is where the model first wrote one. */
import type { Json } from '@chassis/types';
import { expect, test } from 'vitest';
import { failure, invalid, Story } from '../../test/build.ts';
import { why } from '../why.ts';

function story(): Story {
  const told = new Story('Clean up the folder.');
  const path = { type: 'string' };
  told.tools = [
    {
      name: 'remove',
      description: 'removes a file',
      parameters: {
        type: 'object',
        properties: {
          path,
          options: { type: 'object', properties: { dry: {} }, additionalProperties: false },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
    { name: 'list', description: 'lists files', parameters: { type: 'object', properties: { path } } },
  ];
  told.call('list', { path: '.' }, { files: ['a.log'] });
  return told;
}
const refused = (path: string, received: string) =>
  invalid({ path, expected: 'one of path, options', received });
const remove = (told: Story, input: Json, path: string): number =>
  told.call('remove', input, { error: refused(path, 'x') });

test('a tool that was not offered', () => {
  const told = story();
  const failed = told.call(
    'unlink',
    { path: 'a.log' },
    { error: failure('MethodNotFound', -32601, 'no such tool') },
  );
  const found = why(told.fail());
  expect(found.cause).toMatchObject({
    step: failed - 1,
    pointer: '/output/message/tool_calls/0/name',
    rule: 'unfit-call',
    label: 'recorded',
  });
  expect(found.cause?.text).toBe(
    'the model called unlink, which it was not offered; offered were remove, list',
  );
});

test('an argument that the tool does not have, again and again: where it began', () => {
  const told = story();
  const first = remove(told, { file: 'a.log' }, '/file');
  remove(told, { file: './a.log' }, '/file');
  remove(told, { file: 'a.log' }, '/file');
  const { cause } = why(told.fail());
  expect(cause).toMatchObject({ step: first - 1, rule: 'unfit-call', label: 'inferred' });
  expect(cause?.text).toContain('/file, 3 times from here on; it has path, options');
});

test('a call between that another mistake spoilt, or that went well, begins anew', () => {
  const told = story();
  remove(told, { file: 'a.log' }, '/file');
  told.call('remove', { path: 'a.log' }, { removed: 1 });
  const last = remove(told, { file: 'b.log' }, '/file');
  expect(why(told.fail()).cause).toMatchObject({ step: last - 1, label: 'recorded' });
});

test('an argument of a nested object, and one that is left out', () => {
  const nested = story();
  const step = remove(nested, { path: 'a.log', options: { force: true } }, '/options/force');
  expect(why(nested.fail()).cause).toMatchObject({ step: step - 1, rule: 'unfit-call' });
  const without = story();
  const bare = remove(without, {}, '/path');
  const { cause } = why(without.fail());
  expect(cause).toMatchObject({ step: bare - 1, rule: 'unfit-call' });
  expect(cause?.text).toBe('the model left out /path in its call of remove');
});

test('a value that is wrong is no wrong argument', () => {
  const told = story();
  remove(told, { path: 17 }, '/path');
  expect(why(told.fail()).cause?.rule).not.toBe('unfit-call');
});

test('a tool that was offered and has gone is not the fault of the model', () => {
  const told = story();
  told.call('list', { path: '/' }, { error: failure('MethodNotFound', -32601, 'list was unloaded') });
  expect(why(told.fail()).cause?.rule).toBe('failed-here');
});

test('arguments that are no JSON', () => {
  const told = story();
  const text = '{"path": "a.log';
  const error = failure('InvalidParams', -32602, 'the arguments are not the text of a JSON object', {
    issues: [{ path: '', message: 'no JSON object', expected: 'object', received: text }],
  });
  const first = told.model([{ tool: 'remove', input: text, text: JSON.stringify(text) }]);
  told.tool(0, { error });
  told.model([{ tool: 'remove', input: text, text: JSON.stringify(text) }]);
  told.tool(0, { error });
  const { cause } = why(told.fail());
  expect(cause).toMatchObject({ step: first, rule: 'unfit-call', label: 'inferred' });
  expect(cause?.text).toBe(
    'the model wrote arguments for remove that are no JSON object, 2 times from here on',
  );
});
