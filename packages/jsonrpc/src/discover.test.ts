import { expect, test } from 'vitest';
import { z } from 'zod';
import { connected } from '../test/support.ts';
import { ErrorCode } from './index.ts';

test('rpc.discover describes every method from its contract', async () => {
  const { client, server } = connected({ discover: { title: 'Shop', version: '1.2.3' } });
  server
    .method(
      'order.get',
      {
        summary: 'One order',
        description: 'Reads one order by its number.',
        params: z.object({ id: z.int().positive(), full: z.boolean().optional() }),
        result: z.object({ total: z.number() }),
        positional: ['id', 'full'],
      },
      () => ({ total: 1 }),
    )
    .method(
      'sum',
      { params: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
      () => 1,
    )
    .method('pair', { params: z.tuple([z.string(), z.number()]) }, () => 1)
    .method('odd', { params: z.object({ when: z.date() }) }, () => 1)
    .method('bare', () => 1)
    .notification('note', () => {});
  const document = (await client.call('rpc.discover')) as { methods: Record<string, unknown>[] };
  expect(document).toMatchObject({ openrpc: '1.3.2', info: { title: 'Shop', version: '1.2.3' } });
  const byName = Object.fromEntries(document.methods.map((method) => [method.name, method]));
  expect(Object.keys(byName)).toEqual(['order.get', 'sum', 'pair', 'odd', 'bare', 'note', 'rpc.discover']);
  expect(byName['order.get']).toMatchObject({
    summary: 'One order',
    description: 'Reads one order by its number.',
    paramStructure: 'either',
    params: [
      { name: 'id', required: true, schema: { type: 'integer', exclusiveMinimum: 0 } },
      { name: 'full', required: false, schema: { type: 'boolean' } },
    ],
    result: { name: 'result', schema: { type: 'object', properties: { total: { type: 'number' } } } },
  });
  expect(byName.sum).toMatchObject({
    params: [{ name: 'n', required: true, schema: { type: 'number' } }],
  });
  expect(byName.pair).toMatchObject({
    paramStructure: 'by-position',
    params: [{ schema: { type: 'string' } }, {}],
  });
  expect(byName.odd).toMatchObject({ params: [] });
  expect(byName.note).not.toHaveProperty('result');
});

test('it can be switched off', async () => {
  const { client } = connected({ discover: false });
  await expect(client.call('rpc.discover')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
});
