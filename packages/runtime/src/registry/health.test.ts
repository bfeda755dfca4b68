import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Secrets } from '../project/secrets.ts';
import { call, missing, plugin, running, states } from '../testing/plugins.ts';
import { projectFolder } from '../testing/project-folder.ts';
import { BACK_OFF } from './back-off.ts';
import { restsIn } from './rests.ts';

const world = globalThis as { broken?: string | undefined; starts?: number };
const quick = { ...BACK_OFF, first_ms: 20, factor: 1, most_ms: 20 };
const failing = {
  code: `on_load() { globalThis.starts++; if (globalThis.broken) throw new Error(globalThis.broken); },`,
};

afterEach(() => {
  delete world.broken;
  delete world.starts;
});

test('a plugin in a crash loop stays at rest when the harness is started anew, until a reload', async () => {
  world.broken = 'no licence';
  world.starts = 0;
  using folder = projectFolder(plugin('a', failing));
  const rests = restsIn(join(folder.root, '.chassis', 'plugins.json'));
  {
    await using registry = await running(folder, { backOff: quick, rests });
    await vi.waitFor(() => expect(states(registry).a).toBe('failed'), { timeout: 20_000 });
    expect(world.starts).toBe(3);
  }
  delete world.broken;
  await using registry = await running(folder, { rests });
  expect(states(registry).a).toBe('failed');
  expect(world.starts).toBe(3);
  expect(missing(registry, 'a_tool')).toMatchObject({ phase: 'on_load', cause: { message: 'no licence' } });
  expect(missing(registry, 'a_tool').fix).toMatch(/chassis plugin reload a; until then it is at rest/);
  await registry.reload('a');
  expect(await call(registry, 'a_tool')).toBe('a');
  await using next = await running(folder, { rests });
  expect(states(next).a).toBe('active');
});

test('a rest ends with a change of the plugin, of its configuration, or after an hour', async () => {
  let now = 1_000;
  using folder = projectFolder(plugin('a', { manifest: 'config: { type: object }' }));
  const file = join(folder.root, '.chassis', 'plugins.json');
  const rests = restsIn(file, () => now);
  const entry = async () => {
    const found = (await folder.open()).catalogue.find('a');
    if (found === undefined) throw new Error('no plugin a');
    return found;
  };
  const record = missing(await running(projectFolder({})), 'x');
  const told = { ...record, fix: expect.stringContaining(record.fix) };
  rests.add(await entry(), record);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(rests.find(await entry())).toEqual(told);
  folder.write({ 'chassis.yaml': 'plugins: { a: { config: { url: x } } }' });
  expect(rests.find(await entry())).toBeUndefined();
  folder.write({ 'chassis.yaml': '' });
  expect(rests.find(await entry())).toEqual(told);
  now += 3_600_000;
  expect(rests.find(await entry())).toBeUndefined();
  now -= 3_600_000;
  folder.write({ 'plugins/a/more.txt': 'x' });
  expect(rests.find(await entry())).toBeUndefined();
});

test('a file of rests that cannot be read, or was written by another hand, keeps nothing from starting', async () => {
  using folder = projectFolder(plugin('a'));
  const file = join(folder.root, 'plugins.json');
  for (const text of ['', '{', 'null', '[]', '{"rests":{"a":{"until":9e15}}}', '{"rests":7}']) {
    writeFileSync(file, text);
    await using registry = await running(folder, { rests: restsIn(file) });
    expect(states(registry).a).toBe('active');
  }
  const [entry] = (await folder.open()).catalogue.entries;
  await using registry = await running(folder);
  if (entry !== undefined) restsIn(file).add(entry, missing(registry, 'x'));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('rests.a');
});

test('calls that break again and again make a plugin unavailable for a while, with the counts; then it is tried', async () => {
  world.broken = 'the database is locked';
  using folder = projectFolder({
    ...plugin('a', {
      answer: `{ if (globalThis.broken) throw new Error(globalThis.broken); return 'fine'; }`,
    }),
    ...plugin('b'),
  });
  await using registry = await running(folder, {
    backOff: { ...BACK_OFF, first_ms: 1500, factor: 1, most_ms: 1500 },
  });
  const changes: string[] = [];
  registry.subscribe(({ name, state }, previous, change) =>
    changes.push(`${name} ${previous} ${state} ${change}`),
  );
  for (let i = 0; i < 4; i++)
    expect(await call(registry, 'a_tool')).toBe('the database is locked (index.mjs:1)');
  expect(registry.plugins()[0]?.calls).toEqual({
    calls: 4,
    failed: 4,
    last_error: 'the database is locked (index.mjs:1)',
  });
  await call(registry, 'a_tool');
  expect(missing(registry, 'a_tool')).toMatchObject({
    phase: 'runtime',
    cause: { message: '5 of its last 5 calls failed, the last with: the database is locked (index.mjs:1)' },
  });
  expect(missing(registry, 'a_tool').retry_at).toBeGreaterThan(Date.now() - 60_000);
  expect(await call(registry, 'b_tool')).toBe('b');
  delete world.broken;
  await vi.waitFor(() => expect(states(registry).a).toBe('active'), { timeout: 20_000 });
  expect(await call(registry, 'a_tool')).toBe('fine');
  expect(registry.plugins()[0]?.calls).toBeUndefined();
  expect(changes).toEqual(['a active unavailable unavailable', 'a unavailable active recovered']);
});

test('what its caller got wrong says nothing against a plugin', async () => {
  using folder = projectFolder(
    plugin('a', { answer: `{ throw Object.assign(new Error('there is no page 9'), { code: -32602 }); }` }),
  );
  await using registry = await running(folder);
  for (let i = 0; i < 12; i++) expect(await call(registry, 'a_tool')).toBe('there is no page 9');
  expect(states(registry).a).toBe('active');
});

test.each([
  ['its module', `await new Promise(() => {}); export default {};`, 'it was still at: import of ./index.mjs'],
  [
    'a secret',
    `export default { async on_load(config, ctx) { ctx.log('info', 'asking'); await ctx.secret('SLOW'); }, tools: { a_tool: () => 1 } };`,
    'it was still at: secret SLOW; it last said: asking',
  ],
  [
    'its own',
    `export default { on_load(config, ctx) { ctx.log('info', 'connecting to db:5432'); return new Promise(() => {}); }, tools: { a_tool: () => 1 } };`,
    'on_load did not finish within 3000 ms; it last said: connecting to db:5432',
  ],
])('a load that hangs is blamed on the deepest thing that is not done: %s', async (_what, code, message) => {
  using folder = projectFolder({
    ...plugin('a', { manifest: 'deadlines: { on_load_ms: 3000 }\npermissions: { secrets: [SLOW] }' }),
    'plugins/a/index.mjs': code,
  });
  const never = new Promise<never>(() => {});
  const secrets: Secrets = {
    configured: () => never,
    variable: () => undefined,
    note: () => {},
    under: () => secrets,
    adopt: () => {},
  };
  await using registry = await running(folder, { secrets });
  expect(missing(registry, 'a_tool').cause.message).toContain(message);
});
