import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { connected } from '../test/support.ts';
import { type Contracts, ErrorCode, memoryPair, Peer, RpcError } from './index.ts';

const invalid = (issues: object[]) => ({ code: ErrorCode.InvalidParams, data: { issues } });

describe('params with a schema', () => {
  const contract = {
    params: z.object({ a: z.number(), deep: z.array(z.object({ 'x/y': z.string() })).default([]) }),
  };

  test('reach the handler as the schema reads them, typed', async () => {
    const { client, server } = connected();
    server.method('m', contract, (params) => {
      expectTypeOf(params).toEqualTypeOf<{ a: number; deep: { 'x/y': string }[] }>();
      return params;
    });
    expect(await client.call('m', { a: 1, extra: 2 })).toEqual({ a: 1, deep: [] });
  });

  test('that break it are refused with path, message, expected and received, but never the value', async () => {
    const { client, server } = connected();
    server.method('m', contract, () => 'ran');
    const error = await client.call('m', { a: 'hunter2', deep: [{ 'x/y': 5 }] }).catch((e: RpcError) => e);
    expect(error).toMatchObject(
      invalid([
        { path: '/a', message: expect.any(String), expected: 'number', received: 'string' },
        { path: '/deep/0/x~1y', message: expect.any(String), expected: 'string', received: 'number' },
      ]),
    );
    expect(JSON.stringify((error as RpcError).data)).not.toContain('hunter2');
    await expect(client.call('m')).rejects.toMatchObject(invalid([{ path: '', received: 'nothing' }]));
  });

  test('that fit no alternative, or no choice, are refused with what would', async () => {
    const { client, server } = connected();
    const params = z.object({
      x: z.union([z.string(), z.object({ a: z.number() })]),
      e: z.enum(['up', 'down']),
      r: z.record(z.string().min(2), z.number()),
    });
    server.method('m', { params }, () => 'ran');
    const error = await client.call('m', { x: { a: 'hunter2' }, e: 'left', r: { b: 1 } }).catch((e) => e);
    expect(error).toMatchObject(
      invalid([
        { path: '/x', expected: 'string | object', received: 'object' },
        { path: '/e', expected: '"up" | "down"', received: 'string' },
        { path: '/r/b', message: expect.stringMatching(/Invalid key.*>=2/) },
      ]),
    );
    const [{ message }] = (error as { data: { issues: [{ message: string }] } }).data.issues;
    expect(message).toMatch(/\(1\) .*expected string.*\(2\) \/a: .*expected number/);
    expect(JSON.stringify((error as RpcError).data)).not.toContain('hunter2');
  });

  test.each([
    ['paths with null and odd keys', [{ message: 'no', path: [null, { key: 'a' }, 3] }], '/null/a/3', 'no'],
    ['a path that is no list', [{ message: 'no', path: 'a.b' }], '', 'no'],
    ['issues that are no list', { message: 'no' }, '', 'no'],
    ['issues that are text', 'no', '', 'no'],
    ['an issue that is null, without a message', [null], '', 'refused by its schema'],
    ['a message that is no text', [{ message: 5 }], '', 'refused by its schema'],
    [
      'alternatives that are rubbish',
      [{ message: 'no', errors: [[null], 5], issues: 5 }],
      '',
      /^no; .*refused/,
    ],
  ])('are refused whatever the schema library says: %s', async (_what, issues, path, message) => {
    const { client, server } = connected();
    const validate = () => ({ issues }) as never;
    server.method('m', { params: { '~standard': { version: 1, vendor: 'odd', validate } } }, () => 'ran');
    await expect(client.call('m')).rejects.toMatchObject(
      invalid([{ path, message: typeof message === 'string' ? message : expect.stringMatching(message) }]),
    );
  });

  test('may be checked asynchronously', async () => {
    const { client, server } = connected();
    const even = z.object({ n: z.number().refine(async (n) => n % 2 === 0, 'must be even') });
    server.method('m', { params: even }, ({ n }) => n);
    expect(await client.call('m', { n: 2 })).toBe(2);
    await expect(client.call('m', { n: 3 })).rejects.toMatchObject(
      invalid([{ path: '/n', message: 'must be even' }]),
    );
  });
});

describe('params by position', () => {
  const positional = ['minuend', 'subtrahend'];
  const numbers = z.object({ minuend: z.number(), subtrahend: z.number().default(0) });

  test('become named ones', async () => {
    const { client, server } = connected();
    server.method('subtract', { params: numbers, positional }, (p) => p.minuend - p.subtrahend);
    expect(await client.call('subtract', [42, 23])).toBe(19);
    expect(await client.call('subtract', { subtrahend: 23, minuend: 42 })).toBe(19);
    expect(await client.call('subtract', [42])).toBe(42);
    await expect(client.call('subtract', [1, 2, 3])).rejects.toMatchObject(invalid([{ path: '' }]));
    await expect(client.call('subtract', [])).rejects.toMatchObject(invalid([{ path: '/minuend' }]));
  });

  test('must be all there if no schema says which may be missing', async () => {
    const { client, server } = connected();
    server.method('subtract', { positional }, (params) => params);
    expect(await client.call('subtract', [1, 2])).toEqual({ minuend: 1, subtrahend: 2 });
    for (const params of [[], [1], [1, 2, 3]]) {
      await expect(client.call('subtract', params)).rejects.toMatchObject(
        invalid([{ path: '', message: 'wrong number of params', received: `${params.length}` }]),
      );
    }
  });
});

test('a result that breaks its schema is an InvalidOutput, not sent on', async () => {
  const { client, server } = connected();
  server.method('good', { result: z.number() }, async () => 1);
  server.method('bad', { result: z.object({ n: z.number() }) }, () => ({ n: 'x' }) as never);
  expect(await client.call('good')).toBe(1);
  await expect(client.call('bad')).rejects.toMatchObject({
    code: ErrorCode.InvalidOutput,
    data: { issues: [{ path: '/n', expected: 'number', received: 'string' }] },
  });
});

test('a plain JSON Schema documents, and validates with a compiler', async () => {
  const schema = { type: 'object', required: ['n'] } as const;
  const compile = () => (value: unknown) =>
    typeof value === 'object' && value !== null && 'n' in value
      ? []
      : [{ path: '', message: 'n is missing' }];
  const { client: lenient, server } = connected();
  server.method('m', { params: schema }, (params) => params);
  expect(await lenient.call('m', {})).toEqual({});
  const { client, server: strict } = connected({ jsonSchema: compile });
  strict.method('m', { params: schema }, (params) => params);
  await expect(client.call('m', {})).rejects.toMatchObject(invalid([{ path: '', message: 'n is missing' }]));
  expect(await client.call('m', { n: 1 })).toEqual({ n: 1 });
});

describe('access', () => {
  test("by scope, by rule, with the rule's own words; refused methods are not discovered", async () => {
    const { client, server } = connected({ scopes: ['read'], identity: { name: 'ann' } });
    server
      .method('read', { access: 'read' }, () => 'ok')
      .method('write', { access: 'write' }, () => 'ok')
      .method('bob', { access: ({ identity }) => (identity as { name: string }).name === 'bob' }, () => 'ok')
      .method(
        'login',
        {
          access: () => {
            throw new RpcError(ErrorCode.Unauthorized, 'log in first');
          },
        },
        () => 'ok',
      );
    expect(await client.call('read')).toBe('ok');
    for (const method of ['write', 'bob']) {
      await expect(client.call(method)).rejects.toMatchObject({ code: ErrorCode.PermissionDenied });
    }
    await expect(client.call('login')).rejects.toMatchObject({
      code: ErrorCode.Unauthorized,
      message: 'log in first',
    });
    const names = async () =>
      ((await client.call('rpc.discover')) as { methods: { name: string }[] }).methods.map((m) => m.name);
    expect(await names()).toEqual(['read', 'rpc.discover']);
    server.scopes.add('write');
    expect(await names()).toEqual(['read', 'write', 'rpc.discover']);
    expect(await client.call('write')).toBe('ok');
  });

  test('is given by true alone: a rule that answers with a promise lets nobody in', async () => {
    const { client, server } = connected();
    server.method('secret', { access: (async () => false) as never }, () => expect.unreachable());
    await expect(client.call('secret')).rejects.toMatchObject({ code: ErrorCode.PermissionDenied });
  });

  test('holds for notifications too: refused ones are logged', async () => {
    const { client, server, serverLog } = connected();
    server.notification('note', { access: 'write' }, () => expect.unreachable());
    await client.notify('note');
    await client.call('rpc.discover');
    expect(serverLog).toMatchObject([{ event: 'notification-failed', method: 'note' }]);
  });
});

test('names are taken once, and rpc.* never', () => {
  const { server } = connected();
  server.method('m', () => 1).notification('n', () => {});
  for (const name of ['m', 'n', 'rpc.x']) expect(() => server.method(name, () => 1)).toThrow(TypeError);
  expect(server.methods.remove('m')).toBe(true);
  expect(server.methods.remove('m')).toBe(false);
  server.method('m', () => 2);
});

describe('a described other side', () => {
  const remote = {
    'tool.add': { params: z.object({ a: z.number(), b: z.number() }), result: z.number() },
    'tool.add.many': { params: z.array(z.number()), result: z.number() },
    'log.line': { kind: 'notification', params: z.object({ text: z.string() }) },
  } as const satisfies Contracts;

  function typed() {
    const [near, far] = memoryPair();
    const server = new Peer(far);
    const lines: unknown[] = [];
    server.method('tool.add', remote['tool.add'], ({ a, b }) => a + b);
    server.method('tool.add.many', remote['tool.add.many'], (all) => all.reduce((x, y) => x + y, 0));
    server.notification('log.line', remote['log.line'], (params) => lines.push(params));
    return { client: new Peer<typeof remote>(near, { remote }), lines };
  }

  test('gives typed calls and a typed proxy', async () => {
    const { client, lines } = typed();
    const sum = await client.call('tool.add', { a: 1, b: 2 });
    expectTypeOf(sum).toEqualTypeOf<number>();
    expect(sum).toBe(3);
    const same = await client.api.tool.add({ a: 3, b: 4 });
    expectTypeOf(same).toEqualTypeOf<number>();
    expect(same).toBe(7);
    expect(await client.api.tool.add.many([1, 2, 3])).toBe(6);
    const { result } = client.stream('tool.add', { a: 5, b: 6 });
    expectTypeOf(result).toEqualTypeOf<Promise<number>>();
    expect(await result).toBe(11);
    await client.notify('log.line', { text: 'x' });
    await client.call('tool.add', { a: 0, b: 0 });
    expect(lines).toEqual([{ text: 'x' }]);
  });

  test('refuses the wrong kind, in types and at run time', async () => {
    const { client } = typed();
    // @ts-expect-error a notification cannot be called
    await expect(client.call('log.line', { text: 'x' })).rejects.toMatchObject({
      code: ErrorCode.InvalidRequest,
    });
    // @ts-expect-error a method cannot be notified
    await expect(client.notify('tool.add', { a: 1, b: 2 })).rejects.toMatchObject({
      code: ErrorCode.InvalidRequest,
    });
    const mixed = [{ method: 'tool.add', params: { a: 1, b: 2 } }, { method: 'log.line' }];
    await expect(client.batch(mixed)).rejects.toMatchObject({ code: ErrorCode.InvalidRequest });
    const noted = [{ method: 'tool.add', params: { a: 1, b: 2 }, notify: true }];
    await expect(client.batch(noted)).rejects.toMatchObject({ code: ErrorCode.InvalidRequest });
    // @ts-expect-error a notification has no progress
    await expect(client.stream('log.line', { text: 'x' }).result).rejects.toMatchObject({
      code: ErrorCode.InvalidRequest,
    });
    // @ts-expect-error no such method
    await expect(client.call('tool.nope', {})).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
    // @ts-expect-error wrong params
    await expect(client.call('tool.add', { a: 'x' })).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
    });
  });
});

test('the proxy of an undescribed side reaches any name and is no promise', async () => {
  const { client, server } = connected();
  server.method('a.b.c', (params) => params);
  const part = await Promise.resolve(client.api.a);
  expect(await part?.b?.c?.([1])).toEqual([1]);
});

test('a part of the api that is printed or serialised calls nobody', async () => {
  const { client, server } = connected();
  const called: string[] = [];
  server.onUnknownMethod = (_params, { method }) => called.push(method);
  const { tool } = client.api;
  expect(JSON.stringify({ tool })).toBe('{}');
  expect(`${tool?.add}`).toBe('api.tool.add');
  await Promise.resolve(tool?.toString());
  expect(called).toEqual(['tool.toString']);
});

test("another library's thenables are waited for before they are checked", async () => {
  const { client, server } = connected();
  // biome-ignore lint/suspicious/noThenProperty: that is what is tested
  const thenable = (value: unknown) => ({ then: (resolve: (value: unknown) => void) => resolve(value) });
  const read = (value: unknown) =>
    typeof value === 'number' ? { value } : { issues: [{ message: 'no number' }] };
  const late = {
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => thenable(read(value)) },
  };
  const result = z.number();
  server.method('number', { result }, () => thenable(1) as never);
  server.method('text', { result }, () => thenable('one') as never);
  server.method('late', { params: late as never }, () => 'ran');
  expect(await client.call('number')).toBe(1);
  await expect(client.call('text')).rejects.toMatchObject({ code: ErrorCode.InvalidOutput });
  await expect(client.call('late', {})).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
});
