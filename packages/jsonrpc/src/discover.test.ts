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
  expect(byName.odd).toMatchObject({ params: [{ name: 'when', required: true }] });
  expect(byName.note).not.toHaveProperty('result');
});

/** All references of a document, and those among them that point nowhere in it. */
function references(document: unknown): { all: string[]; dangling: string[] } {
  const all: string[] = [];
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') all.push(value);
    return value;
  });
  const missing = (ref: string): boolean =>
    ref
      .split('/')
      .slice(1)
      .reduce<unknown>((here, part) => (here as Record<string, unknown> | undefined)?.[part], document) ===
    undefined;
  return { all, dangling: all.filter((ref) => ref === '#' || missing(ref)) };
}

test('every reference in the document points into it, also of schemas that contain themselves', async () => {
  const { client, server } = connected();
  const tree = z.object({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const address = z.object({ street: z.string() }).meta({ id: 'Address' });
  const other = { type: 'object', properties: { a: { $ref: '#/$defs/Address' } } };
  server
    .method('grow', { params: z.object({ tree, address }), result: tree }, ({ tree }) => tree)
    .method('root', { params: tree }, () => 1)
    .method('move', { params: z.object({ address }) }, () => 1)
    .method('other', { params: { ...other, $defs: { Address: { type: 'string' } } } }, () => 1)
    .method('data', { params: { type: 'object', properties: { $ref: { const: { $ref: '#' } } } } }, () => 1);
  type Document = { methods: { name: string; params: unknown[] }[]; components: { schemas: object } };
  const document = (await client.call('rpc.discover')) as Document;
  const { all, dangling } = references(document);
  expect(all.length).toBeGreaterThan(6);
  expect(dangling).toEqual(['#']); // the one that is data
  const { schemas } = document.components;
  expect(Object.keys(schemas).filter((name) => name.startsWith('Address'))).toEqual(['Address', 'Address_2']);
  expect(schemas).toMatchObject({ Address: { type: 'object' }, Address_2: { type: 'string' } });
  expect(document.methods.find(({ name }) => name === 'root')?.params).toHaveLength(2);
});

test('params that no list can describe stand whole beside it', async () => {
  const { client, server } = connected();
  server
    .method('sum', { params: z.array(z.number()) }, () => 1)
    .method(
      'either',
      { params: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
      () => 1,
    )
    .method('some', { params: z.tuple([z.string(), z.number().optional()]).rest(z.boolean()) }, () => 1)
    .method('plain', { params: z.object({ a: z.string() }) }, () => 1);
  const { methods } = (await client.call('rpc.discover')) as { methods: Record<string, unknown>[] };
  const [sum, either, some, plain] = methods;
  expect(sum).toMatchObject({ paramStructure: 'by-position', 'x-params-schema': { type: 'array' } });
  expect(either).toMatchObject({ 'x-params-schema': { anyOf: [{}, {}] } });
  expect(some).toMatchObject({ params: [{ required: true }, { required: false }] });
  expect(some).toHaveProperty('x-params-schema');
  expect(plain).not.toHaveProperty('x-params-schema');
});

test('it can be switched off', async () => {
  const { client } = connected({ discover: false });
  await expect(client.call('rpc.discover')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
});

test('a schema that cannot be written leaves itself open, and the rest of the document whole', async () => {
  const { client, server } = connected();
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.properties = { self: cyclic };
  const throws = {
    '~standard': {
      version: 1,
      vendor: 'broken',
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: () => {
          throw new Error('no');
        },
        output: () => ({ const: 1n }),
      },
    },
  } as const;
  server.method('cyclic', { params: cyclic }, () => 1);
  server.method('throws', { params: throws, result: throws }, () => 1);
  server.method('fine', { params: { type: 'object', properties: { n: { type: 'number' } } } }, () => 1);
  const { methods } = (await client.call('rpc.discover')) as { methods: { name: string; params: unknown }[] };
  expect(methods.map(({ name, params }) => [name, params])).toEqual([
    ['cyclic', []],
    ['throws', []],
    ['fine', [{ name: 'n', required: false, schema: { type: 'number' } }]],
    ['rpc.discover', []],
  ]);
});
