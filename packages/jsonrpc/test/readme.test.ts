/** What the README says, done: its examples run, its tables are complete. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { compileFunction } from 'node:vm';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as face from '../src/index.ts';
import { limitsOf } from '../src/peer-options.ts';
import { connected } from './support.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** Runs an example as the body of an async function; gives the values of the named variables. */
async function run(code: string, scope: Record<string, unknown>, wanted: string[] = []): Promise<unknown[]> {
  const javascript = stripTypeScriptTypes(`async () => {${code.replace(/^import .*$/gm, '')};
    return [${wanted.join(', ')}];
  }`);
  const all = { ...face, ...scope };
  const made = compileFunction(`return (${javascript})()`, Object.keys(all)) as (
    ...values: unknown[]
  ) => Promise<unknown[]>;
  return made(...Object.values(all));
}

const example = (text: string): string => {
  const found = examples.filter((code) => code.includes(text));
  expect(found, `examples with ${text}`).toHaveLength(1);
  return found[0] as string;
};

test('its first example adds two numbers, both ways', async () => {
  const code = example('memoryPair()').replace(/^(await .*);/gm, 'sums.push($1);');
  const sums: unknown[] = [];
  await run(code, { sums });
  expect(sums).toEqual([3, 3]);
});

test('its example of calling gets a result, a batch and progress', async () => {
  const { client: peer, server } = connected();
  const lines: unknown[] = [];
  server.method('report.make', (params, context) => {
    context.progress({ part: 1 });
    return params;
  });
  server.method('add', ({ a, b }: { a: number; b: number }) => a + b);
  server.notification('log.line', (params) => lines.push(params));
  const parts: unknown[] = [];
  const scope = { peer, signal: new AbortController().signal, show: (part: unknown) => parts.push(part) };
  const [result, results] = await run(example('peer.batch'), scope, ['result', 'results']);
  expect([result, results, parts]).toEqual([
    { year: 2026 },
    [{ status: 'fulfilled', value: 3 }],
    [{ part: 1 }],
  ]);
  expect(lines).toEqual([{ text: 'hello' }, { text: 'x' }]);
});

test('its contract checks, takes params by position, and asks for the scope it names', async () => {
  const [contract] = await run(example('positional:'), { z }, ['contract']);
  const { client, server } = connected();
  await run(example("peer.notification('log.line'"), {
    peer: server,
    contract,
    handler: ({ id = 0, full }: { id?: number; full?: boolean }) => ({ total: full ? id : 0 }),
  });
  await expect(client.call('order.get', [7, true])).rejects.toMatchObject({
    code: face.ErrorCode.PermissionDenied,
  });
  server.scopes.add('orders.read');
  expect(await client.call('order.get', [7, true])).toEqual({ total: 7 });
  expect(await client.call('order.get', { id: 7 })).toEqual({ total: 0 });
  await expect(client.call('order.get', { id: 'x' })).rejects.toMatchObject({
    code: face.ErrorCode.InvalidParams,
    data: { issues: [{ path: '/id', received: 'string' }] },
  });
});

test('its typed other side is refused calls of the wrong kind', async () => {
  const [near, far] = face.memoryPair();
  new face.Peer(far).method('tool.add', ({ a, b }: { a: number; b: number }) => a + b);
  const code = example('satisfies Contracts').replace(/^(await .*);/gm, 'sums.push($1);');
  const sums: unknown[] = [];
  const params = z.object({ text: z.string() });
  const wrong = code.replace("peer.call('log.line'", "wrong = peer.call('log.line'");
  const [refused] = await run(
    `let wrong;${wrong}; wrong.catch(() => {});`,
    {
      transport: near,
      contract: {},
      params,
      sums,
    },
    ['await wrong.catch((error) => error)'],
  );
  expect([sums, refused]).toMatchObject([[3, 3], { code: face.ErrorCode.InvalidRequest }]);
});

test('its interceptor sees what passes', async () => {
  const seen: unknown[] = [];
  const record = (...what: unknown[]) => seen.push(what.slice(0, 3));
  const [timing] = await run(example(': Interceptor'), { record }, ['timing']);
  const { client, server } = connected({}, { interceptors: [timing as face.Interceptor] });
  server.method('m', () => 1);
  expect(await client.call('m')).toBe(1);
  expect(seen).toEqual([['outgoing', 'call', 'm']]);
});

test('its tables name every option with its default, every transport, every error code it speaks of', () => {
  const { maxMessageBytes, ...limits } = limitsOf({});
  expect(maxMessageBytes).toBe(64 << 20);
  for (const [name, value] of Object.entries(limits)) {
    expect(readme).toMatch(new RegExp(`\\| \`${name}\` +\\| ${value.toLocaleString('en')} `));
  }
  for (const name of Object.keys(face)) expect(readme, name).toMatch(new RegExp(`\\b${name}\\b`));
  for (const [, digits, name] of readme.matchAll(/−(\d{5})`? `(\w+)`/g)) {
    if (name === 'Internal') continue; // "−32603 `Internal error`" is its message
    expect(face.ErrorCode).toHaveProperty(name as string, -Number(digits));
  }
});

test('it names every export', () => {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8');
  const names = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list.split(',').flatMap((name) => name.replace('type ', '').trim() || []),
  );
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))).toEqual([]);
});
