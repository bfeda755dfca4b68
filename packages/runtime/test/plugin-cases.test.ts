// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of configuration and manifests are the subject
// Bug reports from the field, as tests: half registrations, dying, noisy and silent servers, leaking environments, odd paths.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  isUnavailable,
  type LiveRegistry,
  startRegistry,
  type ToolBinding,
  type Unavailable,
} from '../src/index.ts';
import { inlineManifest, invocation, projectFolder } from '../src/testing/project-folder.ts';

const server = (name: string) => readFileSync(join(import.meta.dirname, 'cases', name), 'utf8');

/** A server of the cases, which answers `tools/call`, as a plugin. */
const bare = (name: string, tool: string, more = '') => `
name: ${name}
version: 1.0.0
description: A server from a bug report.
runtime: process
protocol: jsonrpc
command: [node, server.mjs]
tools: [{ name: ${tool}, description: Test., effects: none, method: tools/call }]
${more}`;

function usable(registry: LiveRegistry, name: string): ToolBinding {
  const found = registry.resolveTool(name);
  if (isUnavailable(found)) throw new Error(found.cause.message);
  return found;
}

function missing(registry: LiveRegistry, name: string): Unavailable {
  const found = registry.resolveTool(name);
  if (!isUnavailable(found)) throw new Error(`${name} is usable`);
  return found;
}

const call = (binding: ToolBinding, input: object = {}) =>
  binding.invoke(invocation({ tool: binding.definition.name, input: input as never }));

/** Processes whose working folder lies in `root`; only Linux tells. */
function processesIn(root: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
      } catch {
        return false;
      }
    });
}

test('a server that logs to stdout works, and what it printed is kept as diagnostics', async () => {
  using folder = projectFolder({
    'plugins/noisy/plugin.yaml': bare('noisy', 'echo'),
    'plugins/noisy/server.mjs': server('c1_noisy_server.mjs'),
  });
  const registry = await startRegistry(await folder.open());
  try {
    const result = await call(usable(registry, 'echo'));
    expect(result).toMatchObject({ code: 0, data: { content: [{ type: 'text', text: 'pong' }] } });
    expect(registry.plugins()[0]?.state).toBe('active');
    expect(registry.diagnostics('noisy')?.noise).toEqual([
      'tiny server v0.0.1 starting',
      '{"level":"info","msg":"up"}',
      '[1,2',
      'calling',
    ]);
  } finally {
    await registry.close();
  }
});

test('a server that dies in a call fails it at once with exit code and last words, and a crash loop is put to rest', async () => {
  using folder = projectFolder({
    'plugins/exit/plugin.yaml': bare('exit', 'boom'),
    'plugins/exit/server.mjs': server('c4_exit_server.mjs'),
    'plugins/noisy/plugin.yaml': bare('noisy', 'echo'),
    'plugins/noisy/server.mjs': server('c1_noisy_server.mjs'),
  });
  let starts = 0;
  const registry = await startRegistry(await folder.open(), {
    backOff: { first_ms: 50, factor: 2, most_ms: 200, tries: 3, window_ms: 600_000 },
    at: (point, plugin) => {
      if (point === 'host' && plugin === 'exit') starts++;
    },
  });
  const states: string[] = [];
  registry.subscribe((status) => states.push(`${status.name} ${status.state}`));
  try {
    for (let crash = 1; crash <= 3; crash++) {
      await vi.waitFor(() => usable(registry, 'boom'), { timeout: 60_000 });
      const failed = await call(usable(registry, 'boom')).catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: -32004, data: { exit_code: 3 } });
      expect((failed as Error).message).toContain('exited with code 3: fatal: cannot open store');
      const after = await vi.waitFor(() => missing(registry, 'boom'), { timeout: 20_000 });
      expect(after).toMatchObject({ capability: 'tool.boom', owner: 'exit', phase: 'runtime' });
      expect(after.retry_at === undefined).toBe(crash === 3);
    }
    expect(starts).toBe(3);
    expect(states.at(-1)).toBe('exit failed');
    expect(missing(registry, 'boom').cause.message).toContain('fatal: cannot open store');
    expect(await call(usable(registry, 'echo'))).toMatchObject({ code: 0 });
  } finally {
    await registry.close();
  }
});

test('a server that never answers is named, delays nobody beyond its deadline, and is gone afterwards', async () => {
  using folder = projectFolder({
    'plugins/silent/plugin.yaml': bare('silent', 'x', 'deadlines: { on_load_ms: 500 }').replace(
      /^tools:.*$/m,
      '',
    ),
    'plugins/silent/server.mjs': server('c7_silent_server.mjs'),
    'plugins/noisy/plugin.yaml': bare('noisy', 'echo'),
    'plugins/noisy/server.mjs': server('c1_noisy_server.mjs'),
  });
  const registry = await startRegistry(await folder.open());
  try {
    expect(registry.tools().map((binding) => binding.name)).toEqual(['echo']);
    expect(registry.plugins().find((plugin) => plugin.name === 'silent')).toMatchObject({
      state: 'unavailable',
      unavailable: {
        phase: 'on_load',
        cause: { code: -32001, message: 'on_load did not finish within 500 ms' },
      },
    });
  } finally {
    await registry.close();
  }
  expect(processesIn(folder.root)).toEqual([]);
});

describe('a registration that fails half way', () => {
  const good = `export default { on_load() {}, tools: { half_alpha: () => 'alpha' } };`;
  test.each([
    ['throws', `on_load() { throw new Error('half: no config'); }`],
    [
      'rejects later',
      `async on_load() { await new Promise((r) => setTimeout(r, 50)); throw new Error('half: no config'); }`,
    ],
    [
      'goes on registering after its failure',
      `on_load() { setTimeout(() => { plugin.tools.half_late = () => 'late'; }, 20); throw new Error('half: no config'); }`,
    ],
  ])('leaves nothing behind when it %s', async (_how, hook) => {
    using folder = projectFolder({
      'plugins/half/plugin.yaml': inlineManifest('half', 'tools: [{ name: half_alpha, description: x }]'),
      'plugins/half/index.mjs': `const plugin = { ${hook}, tools: { half_alpha: () => 'alpha' } }; export default plugin;`,
      'plugins/other/plugin.yaml': inlineManifest('other', 'tools: [{ name: half_alpha, description: x }]'),
      'plugins/other/index.mjs': `export default { tools: { half_alpha: () => 'of other' } };`,
    });
    const registry = await startRegistry(await folder.open());
    try {
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(registry.plugins().find((plugin) => plugin.name === 'half')?.unavailable).toMatchObject({
        phase: 'on_load',
        cause: { message: 'half: no config' },
      });
      expect(registry.tools().map((binding) => binding.plugin.name)).toEqual(['other']);
      expect(await call(usable(registry, 'half_alpha'))).toMatchObject({ data: 'of other' });
      expect(missing(registry, 'half_late').phase).toBe('unknown');
      expect(missing(registry, 'half__half_alpha').cause.message).toBe('half: no config');

      folder.write({ 'plugins/half/index.mjs': good });
      await registry.reload('half');
      expect(missing(registry, 'half_alpha')).toMatchObject({
        phase: 'name',
        alternatives: ['half__half_alpha', 'other__half_alpha'],
      });
      expect(await call(usable(registry, 'half__half_alpha'))).toMatchObject({ data: 'alpha' });
    } finally {
      await registry.close();
    }
  });
});

describe("a server's environment", () => {
  const env = { PATH: process.env.PATH, HARNESS_T1: 's3cr3t-A', OTHER_API_KEY: 's3cr3t-B' };
  const files = {
    'plugins/envy/plugin.yaml': bare('envy', 'env'),
    'plugins/envy/server.mjs': server('d3_env_server.mjs'),
  };

  test('is built from what was named, and holds nothing else', async () => {
    using folder = projectFolder({
      ...files,
      'chassis.yaml': 'plugins: { envy: { env: { TOKEN: "${env:HARNESS_T1}" } } }',
    });
    const secrets: [string, string][] = [];
    const registry = await startRegistry(await folder.open({ env }), {
      onSecret: (...secret) => secrets.push(secret),
    });
    try {
      const result = await call(usable(registry, 'env'));
      const { text } = (result.data as unknown as { content: [{ text: string }] }).content[0];
      const { names, token_len } = JSON.parse(text) as { names: string[]; token_len: number };
      expect(token_len).toBe(8);
      expect(names).toEqual(expect.arrayContaining(['PATH', 'TOKEN']));
      expect(
        names.filter((name) => !['PATH', 'TOKEN', 'PYTHONPATH', 'PWD', 'SHLVL', '_'].includes(name)),
      ).toEqual([]);
      expect(secrets).toEqual([['HARNESS_T1', 's3cr3t-A']]);
    } finally {
      await registry.close();
    }
  });

  test('with an unset name keeps it from starting, and only the name is told', async () => {
    using folder = projectFolder({
      ...files,
      'chassis.yaml':
        'plugins:\n  envy:\n    env:\n      TOKEN: "${env:HARNESS_T1}"\n      X: "${env:NOT_SET_X}"\n',
    });
    const registry = await startRegistry(await folder.open({ env }));
    try {
      expect(missing(registry, 'env')).toMatchObject({
        phase: 'config',
        cause: { message: `${folder.root}/chassis.yaml:5:10: the variable NOT_SET_X is not set` },
      });
      expect(JSON.stringify(registry.problems())).not.toContain('s3cr3t');
    } finally {
      await registry.close();
    }
  });

  test('keeps a value such as a${b as it is', async () => {
    using folder = projectFolder({
      ...files,
      'chassis.yaml': 'plugins: { envy: { env: { TOKEN: "a${b" } } }',
    });
    const registry = await startRegistry(await folder.open({ env }));
    try {
      expect(JSON.stringify(await call(usable(registry, 'env')))).toContain('\\"token_len\\":4');
    } finally {
      await registry.close();
    }
  });
});

test('a plugin in a folder with spaces, signs and wide letters gets its argv word for word, and its folder as cwd', async () => {
  const name = "my plügin $(touch pwned) 'x' & y";
  using folder = projectFolder({
    [`plugins/${name}/plugin.yaml`]: `
name: spaced
version: 0.1.0
description: Prints its argv to stderr.
runtime: process
protocol: jsonrpc
command: [node, "\${folder}/run.mjs", --dir, "\${folder}", two words]
tools: [{ name: x, description: x }]
`,
    [`plugins/${name}/run.mjs`]: `${server('d5_run.mjs')}\nsetInterval(() => {}, 1e6);`,
  });
  const registry = await startRegistry(await folder.open({ cwd: folder.root }));
  try {
    const there = join(folder.root, 'plugins', name);
    const noise = await vi.waitFor(
      () => {
        const [line] = registry.diagnostics('spaced')?.noise ?? [];
        if (line === undefined) throw new Error('not yet');
        return line;
      },
      { timeout: 30_000 },
    );
    expect(JSON.parse(noise)).toEqual({
      argv: ['--dir', there, 'two words'],
      cwd: there,
      self: `${there}/run.mjs`,
    });
    for (const place of [folder.root, there, process.cwd()])
      expect(existsSync(join(place, 'pwned'))).toBe(false);
  } finally {
    await registry.close();
  }
});

test('a program that is not there is told by name, at once and for good', async () => {
  using folder = projectFolder({
    'plugins/gone/plugin.yaml': bare('gone', 'x').replace('[node, server.mjs]', '[no-such-program-here, x]'),
  });
  const registry = await startRegistry(await folder.open());
  try {
    expect(registry.plugins()).toMatchObject([{ state: 'failed', unavailable: { phase: 'spawn' } }]);
    expect(missing(registry, 'x').cause.message).toContain('no-such-program-here');
  } finally {
    await registry.close();
  }
});
