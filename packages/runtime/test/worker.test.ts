// A worker thread keeps a plugin's crashes and endless loops away from the harness.
import { expect, test, vi } from 'vitest';
import { isUnavailable, type LiveRegistry, startRegistry } from '../src/index.ts';
import { invocation, projectFolder } from '../src/testing/project-folder.ts';

const files = {
  'plugins/w/plugin.yaml':
    'name: w\nversion: 1.0.0\ndescription: x\nruntime: worker\nmodule: ./index.mjs\ntools: [{ name: ok, description: x }, { name: crash, description: x }, { name: quit, description: x }, { name: spin, description: x }]\n',
  'plugins/w/index.mjs': `
export default { tools: {
  ok: () => 'fine',
  crash: () => { setTimeout(() => { throw new Error('thrown by nobody in particular'); }); return new Promise(() => {}); },
  quit: () => process.exit(3),
  spin: () => { for (;;); },
} };`,
};

function call(registry: LiveRegistry, tool: string, signal?: AbortSignal) {
  const binding = registry.resolveTool(tool);
  if (isUnavailable(binding)) throw new Error(binding.cause.message);
  return binding.invoke(invocation({ tool, input: {} }, signal ? { signal } : {}));
}

const quickly = { first_ms: 20, factor: 1, most_ms: 20, tries: 10, window_ms: 60_000 };

test.each([
  ['crash', 'its thread ended: thrown by nobody in particular'],
  ['quit', 'its thread ended with code 3'],
])(
  'a thread that ends in a call (%s) fails it with the reason, and is started again',
  async (tool, message) => {
    using folder = projectFolder(files);
    const registry = await startRegistry(await folder.open(), { backOff: quickly });
    try {
      await expect(call(registry, tool)).rejects.toThrow(message);
      await vi.waitFor(async () => expect(await call(registry, 'ok')).toMatchObject({ data: 'fine' }), {
        timeout: 30_000,
      });
    } finally {
      await registry.close();
    }
  },
);

test('a thread that spins can be given up and closed', async () => {
  using folder = projectFolder({
    ...files,
    'plugins/w/plugin.yaml': `${files['plugins/w/plugin.yaml']}deadlines: { on_shutdown_ms: 100 }\n`,
  });
  const registry = await startRegistry(await folder.open());
  const stop = new AbortController();
  const result = call(registry, 'spin', stop.signal);
  stop.abort();
  expect(await result).toMatchObject({ code: -32003 });
  await registry.close();
  expect(registry.plugins()[0]?.state).toBe('stopped');
});

test('a module that cannot be loaded is told with its reason', async () => {
  using folder = projectFolder({ ...files, 'plugins/w/index.mjs': 'import "./not-there.mjs";' });
  const registry = await startRegistry(await folder.open());
  expect(registry.plugins()[0]?.unavailable).toMatchObject({ phase: 'on_load' });
  expect(registry.plugins()[0]?.unavailable?.cause.message).toContain('not-there.mjs');
  await registry.close();
});
