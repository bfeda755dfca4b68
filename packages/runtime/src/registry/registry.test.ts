import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { isUnavailable } from '../capability.ts';
import { inlineManifest, invocation, type ProjectFolder, projectFolder } from '../testing/project-folder.ts';
import { BACK_OFF } from './back-off.ts';
import type { LiveRegistry, StartRegistry } from './options.ts';
import { startRegistry } from './registry.ts';

const oneTool = (tool: string, more = '') =>
  `tools: [{ name: ${tool}, description: x, effects: none }]\n${more}`;

/** An inline plugin with one tool that answers its own name, as files of a project. */
function plugin(name: string, options: { tool?: string; manifest?: string; code?: string } = {}) {
  const tool = options.tool ?? `${name}_tool`;
  return {
    [`plugins/${name}/plugin.yaml`]: inlineManifest(name, oneTool(tool, options.manifest)),
    [`plugins/${name}/index.mjs`]: `export default { ${options.code ?? ''} tools: { '${tool}': () => '${name}' } };`,
  };
}

async function started(
  folder: ProjectFolder,
  options: StartRegistry = {},
): Promise<LiveRegistry & AsyncDisposable> {
  const registry = await startRegistry(await folder.open(), options);
  return Object.assign(registry, { [Symbol.asyncDispose]: () => registry.close() });
}

const names = (registry: LiveRegistry) => registry.tools().map((tool) => tool.name);
const states = (registry: LiveRegistry) =>
  Object.fromEntries(registry.plugins().map((p) => [p.name, p.state]));

function why(registry: LiveRegistry, tool: string): string {
  const found = registry.resolveTool(tool);
  return isUnavailable(found) ? found.cause.message : 'usable';
}

async function answer(registry: LiveRegistry, tool: string): Promise<unknown> {
  const found = registry.resolveTool(tool);
  if (isUnavailable(found)) throw new Error(found.cause.message);
  return (await found.invoke(invocation({ tool: found.definition.name, input: {} }))).data;
}

describe('names', () => {
  test('a tool is known by its short name and by its full name in both spellings', async () => {
    using folder = projectFolder(plugin('a', { tool: 'fetch' }));
    await using registry = await started(folder);
    for (const name of ['fetch', 'tool.fetch', 'plugin.a.fetch', 'a__fetch']) {
      const found = registry.resolveTool(name);
      expect(isUnavailable(found) ? name : found.name).toBe('fetch');
    }
  });

  test('a short name that two plugins have is refused for both, and both stay reachable', async () => {
    using folder = projectFolder({ ...plugin('a', { tool: 'fetch' }), ...plugin('b', { tool: 'fetch' }) });
    await using registry = await started(folder);
    expect(names(registry)).toEqual(['a__fetch', 'b__fetch']);
    expect(registry.resolveTool('fetch')).toMatchObject({
      phase: 'name',
      owner: null,
      cause: { message: 'the tool "fetch" is offered by a and b' },
      alternatives: ['a__fetch', 'b__fetch'],
    });
    expect(await answer(registry, 'plugin.b.fetch')).toBe('b');
  });

  test('the project decides a collision by denying one of the two', async () => {
    using folder = projectFolder({
      ...plugin('a', { tool: 'fetch' }),
      ...plugin('b', { tool: 'fetch' }),
      'chassis.yaml': 'tools: { deny: [plugin.a.fetch] }',
    });
    await using registry = await started(folder);
    expect(await answer(registry, 'fetch')).toBe('b');
    expect(why(registry, 'a__fetch')).toBe(
      `${folder.root}/chassis.yaml:1:17: the tool plugin.a.fetch is denied`,
    );
  });

  test('a short name that spells another tool in full gives way to it', async () => {
    using folder = projectFolder({ ...plugin('a', { tool: 'fetch' }), ...plugin('b', { tool: 'a__fetch' }) });
    await using registry = await started(folder);
    expect(await answer(registry, 'a__fetch')).toBe('a');
    expect(await answer(registry, 'b__a__fetch')).toBe('b');
  });

  test('an unknown name gets the nearest one', async () => {
    using folder = projectFolder(plugin('a', { tool: 'fetch_orders' }));
    await using registry = await started(folder);
    expect(registry.resolveTool('fetch_order')).toMatchObject({
      phase: 'unknown',
      cause: { code: -32601, message: 'there is no tool "fetch_order"; did you mean "fetch_orders"?' },
    });
    expect(registry.resolveModel('gtp/x')).toMatchObject({ capability: 'model.gtp', phase: 'unknown' });
    expect(registry.resolveAgent('toString')).toMatchObject({
      capability: 'agent.toString',
      phase: 'unknown',
    });
    expect(registry.resolveTool('__proto__')).toMatchObject({ phase: 'unknown' });
  });
});

describe("the project's rules on tools", () => {
  test('allow only what is listed, and change how a tool is approved', async () => {
    using folder = projectFolder({
      ...plugin('a', { tool: 'read_x' }),
      ...plugin('b', { tool: 'write_x' }),
      'chassis.yaml': 'tools: { allow: [read_*], approval: { read_x: ask } }',
    });
    await using registry = await started(folder);
    expect(names(registry)).toEqual(['read_x']);
    expect(registry.tools()[0]?.definition.approval).toBe('ask');
    expect(why(registry, 'write_x')).toContain('is not among the tools that are allowed');
  });
});

describe('dependencies', () => {
  const order = (name: string) =>
    `on_load() { (globalThis.loadOrder ??= []).push('${name}'); }, on_shutdown() { globalThis.loadOrder.push('end ${name}'); },`;

  test('load first and close last', async () => {
    const seen = globalThis as { loadOrder?: string[] };
    delete seen.loadOrder;
    using folder = projectFolder({
      ...plugin('a-top', { manifest: 'depends_on: [{ name: base, version: ^1.0.0 }]', code: order('top') }),
      ...plugin('base', { code: order('base') }),
    });
    const registry = await started(folder);
    await registry.close();
    expect(seen.loadOrder).toEqual(['base', 'top', 'end top', 'end base']);
    delete seen.loadOrder;
  });

  test('that fail take with them only those that need them, with the root cause', async () => {
    using folder = projectFolder({
      ...plugin('top', { manifest: 'depends_on: [{ name: base }]' }),
      ...plugin('loose', { manifest: 'depends_on: [{ name: base, optional: true }]' }),
      ...plugin('base', { code: `on_load() { throw new Error('database file is locked'); },` }),
    });
    await using registry = await started(folder);
    expect(names(registry)).toEqual(['loose_tool']);
    expect(why(registry, 'top_tool')).toBe('top needs base, which is unavailable: database file is locked');
    expect(registry.resolveTool('top_tool')).toMatchObject({ owner: 'top', phase: 'resolve' });
  });

  test('that come back bring back those that were waiting', async () => {
    const flag = globalThis as { locked?: boolean };
    flag.locked = true;
    using folder = projectFolder({
      ...plugin('top', { manifest: 'depends_on: [{ name: base }]' }),
      ...plugin('base', { code: `on_load() { if (globalThis.locked) throw new Error('locked'); },` }),
    });
    await using registry = await started(folder, {
      backOff: { first_ms: 50, factor: 1, most_ms: 50, tries: 1000, window_ms: 1000 },
    });
    expect(states(registry)).toEqual({ base: 'unavailable', top: 'unavailable' });
    delete flag.locked;
    await vi.waitFor(() => expect(states(registry)).toEqual({ base: 'active', top: 'active' }), {
      timeout: 20_000,
    });
    expect(await answer(registry, 'top_tool')).toBe('top');
  });
});

describe('capabilities that a plugin needs', () => {
  const model = (name: string, code = '') => ({
    [`plugins/${name}/plugin.yaml`]: inlineManifest(name, 'kind: model\nmodels: [clever]\n'),
    [`plugins/${name}/index.mjs`]: `export default { ${code} models: { clever: () => 'x' } };`,
  });
  const needsModel = plugin('top', { manifest: 'depends_on: [{ capability: model }]' });

  test('are met by any plugin that offers them', async () => {
    using folder = projectFolder({
      ...needsModel,
      ...model('m'),
      ...model('n', `on_load() { throw new Error('no licence'); },`),
    });
    await using registry = await started(folder);
    expect(states(registry)).toEqual({ m: 'active', n: 'unavailable', top: 'active' });
  });

  test('and when nobody does, the root cause and what to do are those of whoever could', async () => {
    using folder = projectFolder({
      ...needsModel,
      ...model('m', `on_load() { throw new Error('no licence'); },`),
    });
    await using registry = await started(folder);
    const root = registry.problems().find(({ owner }) => owner === 'm');
    expect(registry.resolveTool('top_tool')).toMatchObject({
      phase: 'resolve',
      cause: { message: 'top needs a model of m, which is unavailable: no licence' },
      fix: root?.fix,
    });
  });

  test('are looked for in what a server lists once it runs', async () => {
    const server = `for await (const line of (await import('node:readline')).createInterface({ input: process.stdin })) {
      const { id } = JSON.parse(line);
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result: [{ name: 'told', description: 'x', effects: 'none' }] }));
    }`;
    const need = (tool: string) => `depends_on: [{ capability: tool.${tool} }]`;
    using folder = projectFolder({
      ...plugin('a', { manifest: need('told') }),
      ...plugin('b', { manifest: need('untold') }),
      'plugins/s/plugin.yaml':
        'name: s\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [node, server.mjs]\nprotocol: jsonrpc\n',
      'plugins/s/server.mjs': server,
    });
    await using registry = await started(folder);
    expect(states(registry)).toEqual({ a: 'active', b: 'unavailable', s: 'active' });
    expect(why(registry, 'b_tool')).toBe(
      'b needs the tool untold of s, which is unavailable: it does not offer it',
    );
  });
});

test('plugins of npm packages and of the user are plugins like any other', async () => {
  const files = (at: string, name: string, code: string) => ({
    [`${at}/plugin.yaml`]: inlineManifest(name, oneTool(`${name}_tool`)),
    [`${at}/index.mjs`]: code,
  });
  using folder = projectFolder({
    ...files(
      'node_modules/@acme/orders',
      'orders',
      `import { say } from 'words'; export default { tools: { orders_tool: say } };`,
    ),
    'node_modules/words/package.json': '{ "name": "words", "main": "index.mjs" }',
    'node_modules/words/index.mjs': `export const say = () => 'orders';`,
    ...files(
      'home/.config/chassis/plugins/mine',
      'mine',
      `export default { tools: { mine_tool: () => 'mine' } };`,
    ),
    'node_modules/broken/plugin.yaml': 'name: 7\n',
    'chassis.yaml': `plugins: { npm: ['@acme/orders', broken] }`,
  });
  await using registry = await started(folder);
  expect(await answer(registry, 'orders_tool')).toBe('orders');
  expect(await answer(registry, 'mine_tool')).toBe('mine');
  expect(registry.plugins().map(({ name, origin, state }) => [name, origin, state])).toEqual([
    ['broken', 'npm', 'failed'],
    ['mine', 'user', 'active'],
    ['orders', 'npm', 'active'],
  ]);
  expect(registry.problems()[0]?.cause.message).toContain('node_modules/broken/plugin.yaml:1:7');
});

describe('criticality', () => {
  const broken = { code: `on_load() { throw new Error('no licence'); },` };

  test('an optional plugin that fails leaves the rest usable', async () => {
    using folder = projectFolder({ ...plugin('a'), ...plugin('b', broken) });
    await using registry = await started(folder);
    expect(names(registry)).toEqual(['a_tool']);
  });

  test('a required one stops the start, with its record, and everything is closed', async () => {
    using folder = projectFolder({
      ...plugin('a', { code: `on_shutdown() { globalThis.closedA = true; },` }),
      ...plugin('b', { ...broken, manifest: 'criticality: required' }),
    });
    await expect(started(folder)).rejects.toMatchObject({
      code: -32004,
      message: 'required plugin.b is unavailable: no licence',
      data: { owner: 'b', phase: 'on_load' },
    });
    expect((globalThis as { closedA?: boolean }).closedA).toBe(true);
    delete (globalThis as { closedA?: boolean }).closedA;
  });

  test.each([
    ['fails to load', plugin('g', { ...broken, manifest: 'criticality: guard' }), 'no licence'],
    [
      'has a broken manifest',
      { 'plugins/g/plugin.yaml': `${inlineManifest('g')}criticality: guard\nx: 1\n` },
      'unknown key "x"',
    ],
    [
      'is not installed',
      { 'chassis.yaml': 'plugins: { g: { criticality: guard } }' },
      'there is no plugin "g"',
    ],
  ])('a guard that %s closes every tool, and nothing else', async (_how, files, cause) => {
    using folder = projectFolder({ ...plugin('a'), ...files });
    await using registry = await started(folder);
    expect(names(registry)).toEqual([]);
    expect(why(registry, 'a_tool')).toMatch(`no tool may run while the guard g is down`);
    expect(why(registry, 'a_tool')).toMatch(cause);
    expect(states(registry).a).toBe('active');
  });
});

describe('what a project can refuse', () => {
  test('a disabled plugin is never touched', async () => {
    using folder = projectFolder({
      ...plugin('a', { manifest: 'criticality: required' }),
      'chassis.yaml': 'plugins: { a: { enabled: false } }',
    });
    folder.write({
      'plugins/a/index.mjs': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(folder.root, 'canary'))}, ''); export default {};`,
    });
    await using registry = await started(folder);
    expect(existsSync(join(folder.root, 'canary'))).toBe(false);
    expect(registry.plugins()).toMatchObject([{ name: 'a', state: 'disabled', digest: '' }]);
    expect(why(registry, 'a_tool')).toBe('plugin a is disabled');
  });

  test('more enforcement than there is', async () => {
    using folder = projectFolder({ ...plugin('a'), 'chassis.yaml': 'enforcement: { minimum: kernel }' });
    await using registry = await started(folder);
    expect(why(registry, 'a_tool')).toContain(
      'demands enforcement kernel, but permissions of a are only declared',
    );
  });
});

describe('configuration of a plugin', () => {
  const withConfig = (chassis: string) => ({
    ...plugin('a', {
      manifest:
        'config: { type: object, required: [url], additionalProperties: false, properties: { url: { type: string, format: uri }, retries: { type: integer, default: 3 } } }',
      code: 'on_load(config) { globalThis.seenConfig = config; },',
    }),
    'chassis.yaml': chassis,
  });

  test('is checked, with defaults filled in', async () => {
    using folder = projectFolder(withConfig('plugins: { a: { config: { url: "http://x/" } } }'));
    await using registry = await started(folder);
    expect(states(registry).a).toBe('active');
    expect((globalThis as { seenConfig?: unknown }).seenConfig).toEqual({ url: 'http://x/', retries: 3 });
    delete (globalThis as { seenConfig?: unknown }).seenConfig;
  });

  test.each([
    [
      'plugins:\n  a:\n    config:\n      url: "http://x/"\n      retires: 5',
      ':5:16: unknown key "retires"; did you mean "retries"?',
    ],
    [
      'plugins:\n  a:\n    config:\n      url: "http://x/"\n      retries: many',
      ':5:16: expected a whole number, found a string ("many")',
    ],
    ['plugins:\n  a:\n    config: { retries: 1 }', ':3:13: "url" is missing'],
  ])('is refused with its place: %j', async (chassis, expected) => {
    using folder = projectFolder(withConfig(chassis));
    await using registry = await started(folder);
    expect(why(registry, 'a_tool')).toContain(`${folder.root}/chassis.yaml${expected}`);
  });

  test('never shows a value that came out of a placeholder', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration
    using folder = projectFolder(withConfig('plugins: { a: { config: { url: "${env:HIDDEN}" } } }'));
    const registry = await startRegistry(await folder.open({ env: { HIDDEN: 's3cr3t no address' } }));
    await registry.close();
    const text = JSON.stringify(registry.problems());
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as written
    expect(text).toContain('the value of ${env:HIDDEN} does not fit; expected a valid uri');
    expect(text).not.toContain('s3cr3t');
  });
});

describe('tools of a plugin', () => {
  test('a broken schema costs that tool only', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest(
        'a',
        'tools:\n  - { name: good, description: x }\n  - { name: bad, description: x, output: { type: objcet } }\n',
      ),
      'plugins/a/index.mjs': 'export default { tools: { good: () => 1, bad: () => 2 } };',
    });
    await using registry = await started(folder);
    expect(names(registry)).toEqual(['good']);
    expect(why(registry, 'bad')).toMatch(/plugin\.yaml:\d+:\d+: the output schema of bad is broken/);
  });

  test('a tool without handler and a handler without tool leave a record each', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a', oneTool('listed')),
      'plugins/a/index.mjs': 'export default { tools: { served: () => 1 } };',
    });
    await using registry = await started(folder);
    expect(why(registry, 'listed')).toBe(
      'plugin.yaml lists the tool "listed", but the plugin does not serve it',
    );
    expect(why(registry, 'served')).toBe(
      'the plugin serves the tool "served", but plugin.yaml does not list it',
    );
    expect(registry.problems().map((record) => record.capability)).toEqual(['tool.served', 'tool.listed']);
  });

  test('a skill that is not there leaves a record, and costs nothing else', async () => {
    using folder = projectFolder({ ...plugin('a', { manifest: 'skills: [./how]' }) });
    await using registry = await started(folder);
    expect(registry.problems()).toMatchObject([{ capability: 'skill.how', owner: 'a', phase: 'manifest' }]);
    expect(registry.tools().map(({ name }) => name)).toEqual(['a_tool']);
  });
});

describe('models', () => {
  const model = (name: string, more: { manifest?: string; code?: string } = {}) => ({
    [`plugins/${name}/plugin.yaml`]: inlineManifest(name, `models: [${name}-model]\n${more.manifest ?? ''}`),
    [`plugins/${name}/index.mjs`]: `export default { ${more.code ?? ''} models: { '*': (request, ctx) => ({ model: ctx.model }) } };`,
  });

  test('a model whose plugin cannot register says why, and a healthy one beside it is there', async () => {
    using folder = projectFolder({
      ...model('good'),
      ...model('broken', { code: `on_load() { throw new Error('database file is locked'); },` }),
    });
    await using registry = await started(folder);
    expect(registry.resolveModel('broken-model/large')).toMatchObject({
      capability: 'model.broken-model',
      owner: 'broken',
      phase: 'on_load',
      cause: { message: 'database file is locked' },
    });
    const good = registry.resolveModel('good-model');
    expect(isUnavailable(good)).toBe(false);
  });

  test('may be named by the configuration', async () => {
    using folder = projectFolder({
      ...model('a', { manifest: 'models_from_config: endpoints\nconfig: { type: object }' }),
      'chassis.yaml': 'plugins: { a: { config: { endpoints: { mine: {}, other: {} } } } }',
    });
    await using registry = await started(folder);
    expect(registry.plugins()[0]?.models).toEqual(['a-model', 'mine', 'other']);
    expect(registry.resolveModel('mine/x/y')).toMatchObject({ name: 'mine', id: 'x/y' });
  });
});

describe('health', () => {
  test('a plugin that is not ready is refused with its reason, and comes back', async () => {
    const flag = globalThis as { isReady?: boolean };
    flag.isReady = false;
    using folder = projectFolder(
      plugin('a', { code: `on_ready() { return { ready: globalThis.isReady, reason: 'warming up' }; },` }),
    );
    await using registry = await started(folder, { readyEveryMs: 20 });
    const changes: string[] = [];
    const end = registry.subscribe((status, previous) => changes.push(`${previous} → ${status.state}`));
    expect(why(registry, 'a_tool')).toBe('warming up');
    flag.isReady = true;
    await vi.waitFor(() => expect(names(registry)).toEqual(['a_tool']), { timeout: 20_000 });
    flag.isReady = false;
    await vi.waitFor(() => expect(names(registry)).toEqual([]), { timeout: 20_000 });
    expect(changes).toEqual(['unavailable → active', 'active → unavailable']);
    end();
    delete flag.isReady;
  });

  test.each([
    [
      'hangs',
      'on_load() { return new Promise(() => {}); },',
      'on_load',
      'on_load did not finish within 500 ms',
    ],
    [
      'hangs',
      'on_ready() { return new Promise(() => {}); },',
      'on_ready',
      'on_ready did not finish within 100 ms',
    ],
    ['answers nonsense', `on_ready() { return 'yes'; },`, 'on_ready', 'on_ready must answer true, false'],
    ['throws', `on_ready() { throw new Error('broken'); },`, 'on_ready', 'broken'],
  ])('a hook that %s makes it unavailable: %s', async (_how, code, phase, message) => {
    using folder = projectFolder(
      plugin('a', {
        code,
        manifest: `deadlines: { ${phase === 'on_load' ? 'on_load_ms: 500' : 'on_ready_ms: 100'} }`,
      }),
    );
    await using registry = await started(folder);
    expect(registry.resolveTool('a_tool')).toMatchObject({ phase });
    expect(why(registry, 'a_tool')).toContain(message);
  });

  test.each([
    ['', 'main.py', '"python3" exited with code 0; did you call plugin.run()?'],
    ['def f(:\n', 'main.py', '"python3" exited with code 1: SyntaxError: invalid syntax (main.py:1)'],
    [
      'import no_such_module\n',
      'main.py',
      "ModuleNotFoundError: No module named 'no_such_module' (main.py:1)",
    ],
    ['', 'index.mjs', 'exited with code 0; did you call serve()?'],
    ['let let = 5;\n', 'index.mjs', 'SyntaxError: Unexpected strict mode reserved word (index.mjs:1)'],
  ])(
    'a program %j that ends at its start says where, and how to run it by hand',
    async (code, file, said) => {
      const command = file === 'main.py' ? 'python3' : 'node';
      using folder = projectFolder({
        'plugins/a b/plugin.yaml': `name: a\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [${command}, ${file}]\n${oneTool('x')}`,
        [`plugins/a b/${file}`]: code,
      });
      await using registry = await started(folder);
      const [record] = registry.problems();
      expect(record?.cause.message).toContain(said);
      const by = record?.fix.replace('run it by hand: ', '') ?? '';
      const ran = spawnSync('sh', ['-c', by], { input: '', encoding: 'utf8' });
      expect(ran.stderr).not.toContain('chassis_sdk');
      expect(by).toMatch(
        command === 'python3' ? /^cd '.*\/a b' && PYTHONPATH=\S+ python3 main.py$/ : /--import/,
      );
    },
  );

  test('a module that is not there, or needs a package that is not, says what to do in the plugin', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a'),
      'plugins/a/index.mjs': "import 'no-such-package'; export default {};",
      'plugins/b/plugin.yaml': inlineManifest('b'),
      'plugins/c/plugin.yaml': inlineManifest('c'),
      'plugins/c/index.mjs': `export default { on_load() {
        throw Object.assign(new Error('/s.yaml:2:13: unknown key'), { data: { issues: [{ path: '', file: '/s.yaml', line: 2, column: 13, message: 'unknown key' }] }, code: -32602 });
      } };`,
    });
    await using registry = await started(folder);
    const [a, b, c] = registry.problems();
    expect(a?.fix).toBe(`install no-such-package in ${folder.root}/plugins/a: npm install no-such-package`);
    expect(b?.cause.message).not.toContain('inline.ts');
    expect(c?.fix).toBe('correct /s.yaml:2:13');
  });

  test('a plugin that is started again keeps the reason why it failed before', async () => {
    using folder = projectFolder({
      ...plugin('a', {
        code: `on_load: () => {
          globalThis.tries = (globalThis.tries ?? 0) + 1;
          if (globalThis.tries === 1) throw new Error('the first try');
          return new Promise(() => {});
        },`,
        manifest: 'deadlines: { on_load_ms: 20000 }\n',
      }),
    });
    await using registry = await started(folder, { backOff: { ...BACK_OFF, first_ms: 1 } });
    await vi.waitFor(() => expect(states(registry)).toEqual({ a: 'loading' }));
    expect(why(registry, 'a_tool')).toBe('the first try');
  });

  test('a plugin that is busy with a call is not taken for dead', async () => {
    const world = globalThis as { gate?: Promise<void> | undefined; checks?: number };
    let open: () => void = () => {};
    world.gate = new Promise((resolve) => {
      open = resolve;
    });
    world.checks = 0;
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a', oneTool('work', 'deadlines: { on_ready_ms: 30 }')),
      'plugins/a/index.mjs': `
let busy = false;
export default {
  on_ready() { globalThis.checks++; return busy ? new Promise(() => {}) : true; },
  tools: { work: async () => { busy = true; await globalThis.gate; busy = false; return 'done'; } },
};`,
    });
    await using registry = await started(folder, { readyEveryMs: 20 });
    const running = answer(registry, 'work');
    const before = world.checks;
    await vi.waitFor(() => expect(world.checks).toBeGreaterThan(before + 4), { timeout: 20_000 });
    expect(states(registry)).toEqual({ a: 'active' });
    open();
    expect(await running).toBe('done');
    delete world.gate;
    delete world.checks;
  });

  test('while it lasts, the start says which plugins it still waits for', async () => {
    using folder = projectFolder({
      ...plugin('quick'),
      ...plugin('slow', { code: 'on_load() { return new Promise((open) => setTimeout(open, 2500)); },' }),
    });
    const told: string[] = [];
    await using registry = await started(folder, {
      onStillLoading: (waiting) => told.push(...waiting.map(({ plugin, doing }) => `${plugin}: ${doing}`)),
    });
    expect(new Set(told)).toEqual(new Set(['slow: on_load']));
    expect(names(registry)).toEqual(['quick_tool', 'slow_tool']);
  });

  test.each([
    ['its module', 'process.exit(3); export default {};'],
    ['on_load', 'export default { on_load() { process.exit(3); } };'],
    ['on_ready', 'export default { on_ready() { process.exit(3); }, tools: { a_tool: () => 1 } };'],
  ])(
    'a plugin that ends the process in %s costs only itself, and is told what to do',
    async (_where, code) => {
      using folder = projectFolder({ ...plugin('a'), ...plugin('b'), 'plugins/a/index.mjs': code });
      await using registry = await started(folder);
      expect(names(registry)).toEqual(['b_tool']);
      expect(why(registry, 'a_tool')).toContain('plugin a called process.exit(3) inside the harness');
    },
  );

  test('a load that ends after its deadline is shut down again, and offers nothing', async () => {
    const world = globalThis as { open?: () => void; wasShut?: boolean };
    using folder = projectFolder(
      plugin('a', {
        code: 'on_load() { return new Promise((open) => { globalThis.open = open; }); }, on_shutdown() { globalThis.wasShut = true; },',
        manifest: 'deadlines: { on_load_ms: 3000 }',
      }),
    );
    await using registry = await started(folder);
    expect(states(registry)).toEqual({ a: 'unavailable' });
    world.open?.();
    await vi.waitFor(() => expect(world.wasShut).toBe(true), { timeout: 20_000 });
    expect(names(registry)).toEqual([]);
    delete world.open;
    delete world.wasShut;
  });

  test('a hook that hangs at the end holds up nothing beyond its deadline', async () => {
    using folder = projectFolder(
      plugin('a', {
        code: 'on_shutdown() { return new Promise(() => {}); },',
        manifest: 'deadlines: { on_shutdown_ms: 50 }',
      }),
    );
    const logged: string[] = [];
    const registry = await started(folder, {
      log: (name, level, message) => logged.push(`${name} ${level} ${message}`),
    });
    await registry.close();
    expect(logged).toEqual(['a warn on_shutdown failed: on_shutdown did not finish within 50 ms']);
  });
});

describe('while it runs', () => {
  test('a reload swaps in the new code, and calls under way finish on the old', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a', oneTool('work')),
      'plugins/a/index.mjs': `export default { on_shutdown() { globalThis.oldClosed = true; }, tools: { work: async () => { await globalThis.gate; return 'old'; } } };`,
    });
    const world = globalThis as { gate?: Promise<void> | undefined; oldClosed?: boolean };
    let open: () => void = () => {};
    world.gate = new Promise((resolve) => {
      open = resolve;
    });
    await using registry = await started(folder);
    const before = registry.plugins()[0]?.digest;
    const running = answer(registry, 'work');
    folder.write({ 'plugins/a/index.mjs': `export default { tools: { work: () => 'new' } };` });
    await registry.reload('a');
    expect(await answer(registry, 'work')).toBe('new');
    expect(world.oldClosed).toBeUndefined();
    open();
    expect(await running).toBe('old');
    await vi.waitFor(() => expect(world.oldClosed).toBe(true), { timeout: 20_000 });
    expect(registry.plugins()[0]?.digest).not.toBe(before);
    delete world.gate;
    delete world.oldClosed;
  });

  test('a call resolved before a reload runs on the new code, unless its tool has become another', async () => {
    using folder = projectFolder(plugin('a', { tool: 'work' }));
    await using registry = await started(folder);
    const resolved = registry.resolveTool('work');
    if (isUnavailable(resolved)) throw new Error('not there');
    const late = () => resolved.invoke(invocation({ tool: 'work', input: {} }));
    folder.write({ 'plugins/a/index.mjs': `export default { tools: { work: () => 'new' } };` });
    await registry.reload('a');
    await vi.waitFor(async () => expect(await late()).toMatchObject({ data: 'new' }), { timeout: 20_000 });
    folder.write({
      'plugins/a/plugin.yaml': inlineManifest('a', 'tools: [{ name: work, description: wipes the disk }]'),
    });
    await registry.reload('a');
    await vi.waitFor(async () => expect(late()).rejects.toMatchObject({ code: -32004 }), { timeout: 20_000 });
  });

  test('many calls during many reloads all succeed', async () => {
    using folder = projectFolder(plugin('a', { tool: 'work' }));
    await using registry = await started(folder);
    let done = false;
    const reloads = (async () => {
      for (let i = 0; i < 20; i++) {
        folder.write({ 'plugins/a/index.mjs': `export default { tools: { work: () => ${i} } };` });
        await registry.reload('a');
      }
      done = true;
    })();
    let calls = 0;
    while (!done) {
      const resolved = registry.resolveTool('work');
      if (isUnavailable(resolved)) throw new Error(resolved.cause.message);
      await new Promise((resolve) => setImmediate(resolve));
      expect((await resolved.invoke(invocation({ tool: 'work', input: {} }))).code).toBe(0);
      calls++;
    }
    await reloads;
    expect(calls).toBeGreaterThan(20);
    expect(await answer(registry, 'work')).toBe(19);
  });

  test('a reload that fails leaves the running plugin as it is', async () => {
    using folder = projectFolder(plugin('a'));
    await using registry = await started(folder);
    folder.write({ 'plugins/a/index.mjs': 'throw new Error("half written")' });
    await expect(registry.reload('a')).rejects.toMatchObject({ code: -32004, data: { phase: 'spawn' } });
    expect(await answer(registry, 'a_tool')).toBe('a');
    await expect(registry.reload('b')).rejects.toThrow('there is no plugin "b"');
  });

  test('an unloaded plugin is gone, and can be loaded again', async () => {
    using folder = projectFolder(plugin('a'));
    await using registry = await started(folder);
    await registry.unload('a');
    expect(why(registry, 'a_tool')).toBe('plugin a was not started in this run');
    await registry.reload('a');
    expect(await answer(registry, 'a_tool')).toBe('a');
  });

  test('only the named plugins start, with what they need', async () => {
    using folder = projectFolder({
      ...plugin('a', { manifest: 'depends_on: [{ name: base }]' }),
      ...plugin('base'),
      ...plugin('c', { code: 'on_load() { throw new Error("must not run"); },' }),
    });
    await using registry = await started(folder, { only: ['a'] });
    expect(states(registry)).toEqual({ a: 'active', base: 'active', c: 'stopped' });
  });

  test('an aborted signal closes everything, and closing twice is harmless', async () => {
    using folder = projectFolder(plugin('a'));
    const stop = new AbortController();
    const registry = await started(folder, { signal: stop.signal });
    stop.abort();
    await registry.close();
    expect(states(registry)).toEqual({ a: 'stopped' });
    expect(names(registry)).toEqual([]);
  });
});
