import { ErrorCode } from '@chassis/errors';
import { memoryPair, Peer } from '@chassis/jsonrpc';
import { describe, expect, test } from 'vitest';
import { definePlugin, handlersOf, type Plugin, servePlugin } from './index.ts';

describe('definePlugin', () => {
  test('takes handlers with typed input without a cast, and keeps their types', () => {
    const plugin = definePlugin({
      on_load: (config, ctx) => ctx.log('info', Object.keys(config).join()),
      tools: {
        add: ({ a, b }: { a: number; b: number }) => a + b,
        later: async ({ text }: { text: string }, ctx) => `${text} ${ctx.attempt}`,
        none: () => null,
      },
      agents: { echo: (input) => input.content },
    });
    const sum: number = plugin.tools.add({ a: 1, b: 2 });
    expect(sum).toBe(3);
    // @ts-expect-error the input's type is known
    expect(plugin.tools.add({ a: '1', b: '2' })).toBe('12');
    // @ts-expect-error no hook of this name
    definePlugin({ on_start() {} });
  });

  test.each([
    [undefined, 'no plugin'],
    [{ tools: { a: 1 } }, 'tools.a must be a function'],
    [{ tools: 5 }, 'tools must be an object of functions'],
    [{ on_load: {} }, 'on_load must be a function'],
  ])('what is no plugin is told so: %j', (value, message) => {
    expect(() => handlersOf(value)).toThrow(message);
  });
});

const ctx = {
  session: 's',
  step: 1,
  trace_id: 't',
  attempt: 1,
  idempotency_key: 'k',
  deadline: 0,
  workspace: '/',
};

function connected(plugin: Plugin): { host: Peer; served: Promise<void> } {
  const [ours, theirs] = memoryPair();
  const served = servePlugin(plugin, theirs);
  return { host: new Peer(ours, { timeoutMs: 10_000 }), served };
}

describe('serving a plugin', () => {
  test('loads, answers and shuts down', async () => {
    const seen: string[] = [];
    const { host, served } = connected({
      on_load: (config) => void seen.push(`load ${JSON.stringify(config)}`),
      on_shutdown: () => void seen.push('shutdown'),
      tools: { twice: ({ n }: { n: number }) => n * 2 },
    });
    expect(await host.call('plugin.load', { config: { a: 1 } })).toEqual({
      tools: ['twice'],
      policies: [],
      models: [],
      agents: [],
    });
    expect(await host.call('plugin.ready', {})).toBe(true);
    expect(await host.call('plugin.invoke', { tool: 'twice', input: { n: 2 }, ctx })).toMatchObject({
      code: 0,
      data: 4,
    });
    expect(await host.call('plugin.shutdown', {})).toBeNull();
    await host.close();
    await served;
    expect(seen).toEqual(['load {"a":1}', 'shutdown']);
  });

  test('runs on_shutdown also when the harness just goes away', async () => {
    let down = 0;
    const { host, served } = connected({ on_shutdown: () => void down++ });
    await host.call('plugin.load', {});
    await host.close();
    await served;
    expect(down).toBe(1);
  });

  test('refuses a call before it is loaded, and a tool that it does not have', async () => {
    const { host, served } = connected({ tools: {} });
    await expect(host.call('plugin.invoke', { tool: 'x', input: {}, ctx })).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
    });
    await host.call('plugin.load', {});
    for (const tool of ['x', 'toString', '__proto__']) {
      expect(await host.call('plugin.invoke', { tool, input: {}, ctx })).toMatchObject({
        code: ErrorCode.MethodNotFound,
      });
    }
    await host.close();
    await served;
  });

  test('fails the load when on_load throws, with its message and code', async () => {
    const { host, served } = connected({
      on_load() {
        throw Object.assign(new Error('no licence'), { code: -32012, data: null });
      },
    });
    await expect(host.call('plugin.load', {})).rejects.toMatchObject({ code: -32012, message: 'no licence' });
    await host.close();
    await served;
  });
});
