/** Load, reload, upgrade and unload while a run goes on; and faults at every point of them. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isUnavailable } from '../capability.ts';
import { call, missing, plugin, running, states } from '../testing/plugins.ts';
import { inlineManifest, type ProjectFolder, projectFolder } from '../testing/project-folder.ts';
import { BACK_OFF } from './back-off.ts';
import type { Point, StartRegistry } from './options.ts';
import { startRegistry } from './registry.ts';

const world = globalThis as { gate?: Promise<void> | undefined; closed?: string[] };

afterEach(() => {
  delete world.gate;
  delete world.closed;
});

const version = (name: string, number: string, more = '') => ({
  [`plugins/${name}/plugin.yaml`]: inlineManifest(
    name,
    `tools: [{ name: ${name}_tool, description: x, effects: none }]\n${more}`,
  ).replace('1.0.0', number),
});

describe('a change of a running system', () => {
  test('takes in a plugin that was not there, one that was broken, and a changed block of the configuration', async () => {
    using folder = projectFolder({ 'plugins/b/plugin.yaml': 'name: b\n' });
    await using registry = await running(folder);
    const changes: string[] = [];
    registry.subscribe(({ name }, _previous, change) => changes.push(`${name} ${change}`));
    folder.write(
      plugin('a', {
        manifest: 'config: { type: object }',
        code: 'on_load(c) { this.c = c; },',
        answer: `'a'`,
      }),
    );
    await registry.reload('a');
    folder.write(plugin('b'));
    await registry.reload('b');
    folder.write({
      'chassis.yaml': 'plugins: { a: { config: { word: hello } } }',
      'plugins/a/index.mjs':
        'let word; export default { on_load(config) { word = config.word; }, tools: { a_tool: () => word } };',
    });
    await registry.reload('a');
    expect(await call(registry, 'a_tool')).toBe('hello');
    expect(await call(registry, 'b_tool')).toBe('b');
    expect(changes).toEqual(['a loaded', 'b loaded', 'a reloaded']);
    expect(registry.problems()).toEqual([]);
  });

  test.each([
    ['a broken configuration', { 'chassis.yaml': 'limits: { step: 1 }' }, 'unknown key "step"'],
    ['a broken manifest', { 'plugins/a/plugin.yaml': 'name: a\nversion: x\n' }, 'plugin.yaml'],
    [
      'a plugin that is now disabled',
      { 'chassis.yaml': 'plugins: { a: { enabled: false } }' },
      'plugin a is disabled',
    ],
    [
      'a need that nobody meets',
      version('a', '1.0.0', 'depends_on: [{ name: gone }]'),
      'which is not installed',
    ],
    ['a version that breaks those that need it', version('a', '2.0.0'), 'top needs a ^1.0.0'],
    [
      'one that is not ready',
      { 'plugins/a/index.mjs': 'export default { on_ready: () => false, tools: { a_tool: () => 1 } };' },
      'on_ready answered false',
    ],
    [
      'one that hangs',
      {
        'plugins/a/index.mjs':
          'export default { on_load: () => new Promise(() => {}), tools: { a_tool: () => 1 } };',
      },
      'on_load did not finish',
    ],
  ])('is refused for %s, and what runs goes on', async (_what, files, message) => {
    using folder = projectFolder({
      ...plugin('a', { manifest: 'deadlines: { on_load_ms: 5000 }' }),
      ...plugin('top', { manifest: 'depends_on: [{ name: a, version: ^1.0.0 }]' }),
    });
    await using registry = await running(folder);
    folder.write(files);
    await expect(registry.reload('a')).rejects.toThrow(message);
    expect(await call(registry, 'a_tool')).toBe('a');
    expect(await call(registry, 'top_tool')).toBe('top');
    expect(states(registry)).toEqual({ a: 'active', top: 'active' });
  });

  test('takes in all that the configuration says about it: secrets, variables, runtime, and the rules for its tools', async () => {
    const told: string[] = [];
    const asks = `tools: { a_tool: () => ({ word }), b_tool: () => 1 }`;
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest(
        'a',
        'config: { type: object }\ntools: [{ name: a_tool, description: x }, { name: b_tool, description: x }]\n',
      ),
      'plugins/a/index.mjs': `let word; export default { on_load(c) { word = c.word; }, ${asks} };`,
    });
    const env = { PATH: process.env.PATH, ONE: 'first-value', TWO: 'second-value' };
    const registry = await startRegistry(await folder.open({ env }), {
      onSecret: (name, value) => void told.push(`${name} ${value}`),
    });
    const approvalOf = async () => {
      const found = registry.resolveTool('a_tool');
      if (isUnavailable(found)) throw new Error(found.cause.message);
      return found.definition.approval;
    };
    try {
      expect(await approvalOf()).toBe('ask');
      folder.write({
        'chassis.yaml': `secrets: { TOKEN: { env: ONE } }
tools: { approval: { a_tool: auto }, deny: [b_tool] }
plugins: { a: { secrets: [TOKEN], config: { word: "\${secret:TOKEN}" } } }
`,
      });
      await registry.reload('a');
      expect(await call(registry, 'a_tool')).toMatchObject({ word: 'first-value' });
      expect(await approvalOf()).toBe('auto');
      expect(missing(registry, 'b_tool').cause.message).toContain('chassis.yaml:2:45');
      // What cannot be taken in leaves the rules as they were, too.
      folder.write({ 'chassis.yaml': `plugins: { a: { config: { word: "\${secret:GONE}" } } }\n` });
      await expect(registry.reload('a')).rejects.toThrow('GONE');
      expect(missing(registry, 'b_tool').cause.message).toContain('chassis.yaml:2:45');
      folder.write({
        'chassis.yaml': `secrets: { TOKEN: { env: TWO } }
plugins: { a: { secrets: [TOKEN], config: { word: "\${secret:TOKEN}" } } }
`,
      });
      await registry.reload('a');
      expect(await call(registry, 'a_tool')).toMatchObject({ word: 'second-value' });
      expect(await call(registry, 'b_tool')).toBe(1);
      expect(told).toEqual(['TOKEN first-value', 'TOKEN second-value']);
    } finally {
      await registry.close();
    }
  });

  test('wakes those that only waited for it', async () => {
    using folder = projectFolder({
      ...plugin('top', { manifest: 'depends_on: [{ name: a }]' }),
      ...plugin('a', { code: `on_load() { throw new Error('locked'); },` }),
    });
    await using registry = await running(folder, { backOff: { ...BACK_OFF, first_ms: 600_000 } });
    expect(states(registry)).toEqual({ a: 'unavailable', top: 'unavailable' });
    folder.write(plugin('a'));
    await registry.reload('a');
    await vi.waitFor(() => expect(states(registry)).toEqual({ a: 'active', top: 'active' }), {
      timeout: 20_000,
    });
  });

  test('does not take out what others need, unless it is told to', async () => {
    using folder = projectFolder({
      ...plugin('top', { manifest: 'depends_on: [{ name: a }]' }),
      ...plugin('a'),
    });
    await using registry = await running(folder);
    await expect(registry.unload('a')).rejects.toMatchObject({
      code: -32013,
      message: `plugin top needs a (${folder.root}/plugins/top/plugin.yaml:7:14)`,
      data: { fix: 'unload top first: chassis plugin unload top && chassis plugin unload a' },
    });
    expect(await call(registry, 'a_tool')).toBe('a');
    await registry.unload('a', { force: true });
    expect(missing(registry, 'a_tool').cause.message).toBe('plugin a was not started in this run');
  });

  test('lets one more plugin offering the same take over a need', async () => {
    const model = (name: string) => ({
      [`plugins/${name}/plugin.yaml`]: inlineManifest(name, 'kind: model\nmodels: [clever]\n'),
      [`plugins/${name}/index.mjs`]: `export default { models: { clever: () => 'x' } };`,
    });
    using folder = projectFolder({
      ...plugin('top', { manifest: 'depends_on: [{ capability: model }]' }),
      ...model('m'),
      ...model('n'),
    });
    await using registry = await running(folder);
    await registry.unload('m');
    await expect(registry.unload('n')).rejects.toThrow('plugin top needs n');
  });

  test('is one after the other, however many are asked for at once', async () => {
    using folder = projectFolder(
      plugin('a', { code: 'on_shutdown() { (globalThis.closed ??= []).push(1); },' }),
    );
    await using registry = await running(folder);
    await Promise.all([registry.reload('a'), registry.reload('a'), registry.reload('a')]);
    expect(await call(registry, 'a_tool')).toBe('a');
    await vi.waitFor(() => expect(world.closed).toHaveLength(3), { timeout: 20_000 });
  });
});

describe('a fault at any point', () => {
  const files = () => ({
    ...plugin('a'),
    ...plugin('b'),
    ...plugin('top', { manifest: 'depends_on: [{ name: a }]' }),
  });

  /** Runs a change with a fault at the n-th point; true when there was such a point. */
  async function withFault(
    n: number,
    folder: ProjectFolder,
    change: (registry: Awaited<ReturnType<typeof running>>) => Promise<unknown>,
    prove: (registry: Awaited<ReturnType<typeof running>>, changed: boolean) => Promise<void>,
  ): Promise<Point | undefined> {
    let left = Number.POSITIVE_INFINITY;
    let hit: Point | undefined;
    const at: StartRegistry['at'] = (point) => {
      if (left-- !== 0) return;
      hit = point;
      throw new Error(`fault at ${point}`);
    };
    await using registry = await running(folder, { at });
    registry.subscribe(() => {});
    left = n;
    const changed = await change(registry).then(
      () => true,
      () => false,
    );
    // What goes on behind the change, its drain and its end, belongs to it.
    for (let i = 0; i < 20; i++) await setImmediate();
    left = Number.POSITIVE_INFINITY;
    await prove(registry, changed);
    return hit;
  }

  async function everyPoint(one: (n: number) => Promise<Point | undefined>): Promise<Point[]> {
    const points: Point[] = [];
    for (let n = 0; n < 40; n++) {
      const point = await one(n);
      if (point === undefined) return points;
      points.push(point);
    }
    throw new Error('there is no end of points');
  }

  test('of a reload leaves the old or the new one at work, and every other plugin', async () => {
    const points = await everyPoint(async (n) => {
      using folder = projectFolder(files());
      return await withFault(
        n,
        folder,
        async (registry) => {
          folder.write(plugin('a', { answer: `'new'` }));
          await registry.reload('a');
        },
        async (registry, changed) => {
          expect(await call(registry, 'a_tool')).toBe(changed ? 'new' : 'a');
          expect(await call(registry, 'b_tool')).toBe('b');
          expect(states(registry)).toEqual({ a: 'active', b: 'active', top: 'active' });
          await registry.reload('a');
          expect(await call(registry, 'a_tool')).toBe('new');
        },
      );
    });
    expect(points).toEqual([
      ...['read', 'admit', 'resolve', 'prepare', 'host', 'load', 'loaded', 'ready', 'build', 'swap'],
      ...['tell', 'drain', 'retire', 'close'],
    ]);
  });

  test('of a load leaves what was there, and the next try loads it', async () => {
    const points = await everyPoint(async (n) => {
      using folder = projectFolder(files());
      return await withFault(
        n,
        folder,
        async (registry) => {
          folder.write(plugin('c'));
          await registry.reload('c');
        },
        async (registry) => {
          expect(await call(registry, 'a_tool')).toBe('a');
          await registry.reload('c');
          expect(await call(registry, 'c_tool')).toBe('c');
        },
      );
    });
    expect(points).toContain('swap');
  });

  test('of an unload leaves it at work or takes it out, and every other plugin at work', async () => {
    const points = await everyPoint(async (n) => {
      using folder = projectFolder(files());
      return await withFault(
        n,
        folder,
        (registry) => registry.unload('b'),
        async (registry, changed) => {
          expect(states(registry).b).toBe(changed ? 'stopped' : 'active');
          expect(await call(registry, 'a_tool')).toBe('a');
          if (!changed) expect(await call(registry, 'b_tool')).toBe('b');
          await registry.reload('b');
          expect(await call(registry, 'b_tool')).toBe('b');
        },
      );
    });
    expect(points).toEqual(['unload', 'build', 'swap', 'tell', 'drain', 'retire', 'close']);
  });

  test('of a start costs that plugin and those that need it, and it comes back', async () => {
    for (const point of ['prepare', 'host', 'load', 'loaded', 'ready'] as const) {
      using folder = projectFolder(files());
      let faults = 1;
      await using registry = await running(folder, {
        backOff: { ...BACK_OFF, first_ms: 20 },
        at: (reached, name) => {
          if (reached === point && name === 'a' && faults-- > 0) throw new Error(`fault at ${point}`);
        },
      });
      expect(await call(registry, 'b_tool')).toBe('b');
      await vi.waitFor(() => expect(states(registry)).toEqual({ a: 'active', b: 'active', top: 'active' }), {
        timeout: 20_000,
      });
    }
  });
});
