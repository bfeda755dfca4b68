// What only a Node of its own can show: modules loaded by the real loader, a process that ends by itself.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { pluginScaffold } from '../src/index.ts';
import { inlineManifest, type ProjectFolder, projectFolder } from '../src/testing/project-folder.ts';

const index = join(import.meta.dirname, '../src/index.ts');
const testing = join(import.meta.dirname, '../src/testing/project-folder.ts');

/** Runs a script in the project's folder and gives what it printed, line by line as JSON. */
async function run(folder: ProjectFolder, body: string): Promise<unknown[]> {
  folder.write({
    'script.ts': `
import { writeFileSync } from 'node:fs';
import { openProject, startRegistry } from ${JSON.stringify(index)};
import { invocation } from ${JSON.stringify(testing)};
const project = await openProject({ cwd: import.meta.dirname, home: '/nonexistent' });
const registry = await startRegistry(project);
const print = (value) => console.log(JSON.stringify(value));
const call = async (tool, input = {}) => {
  const binding = registry.resolveTool(tool);
  if (binding.cause) return binding.cause.message;
  return (await binding.invoke(invocation({ tool: binding.definition.name, input }))).data;
};
${body}
await registry.close();
`,
  });
  const { stdout } = await promisify(execFile)(process.execPath, ['script.ts'], { cwd: folder.root });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test('a reload sees changes in every file of the plugin', async () => {
  using folder = projectFolder({
    'plugins/a/plugin.yaml': inlineManifest('a', 'tools: [{ name: work, description: x }]'),
    'plugins/a/index.mjs': `import { answer } from './lib/part.mjs'; export default { tools: { work: () => answer } };`,
    'plugins/a/lib/part.mjs': `export { answer } from './inner.mjs';`,
    'plugins/a/lib/inner.mjs': 'export const answer = 1;',
  });
  const printed = await run(
    folder,
    `
print(await call('work'));
writeFileSync('plugins/a/lib/inner.mjs', 'export const answer = 2;');
await registry.reload('a');
print(await call('work'));`,
  );
  expect(printed).toEqual([1, 2]);
});

test('a scaffolded plugin works at once, in both languages, inline and as a process', async () => {
  using folder = projectFolder({});
  const at = (name: string) => join(folder.root, 'plugins', name);
  await pluginScaffold({ kind: 'typescript', name: 'first', folder: at('first') });
  await pluginScaffold({ kind: 'python', name: 'second', folder: at('second') });
  await pluginScaffold({ kind: 'typescript', name: 'third', folder: at('third') });
  const { readFileSync } = await import('node:fs');
  const manifest = readFileSync(join(at('third'), 'plugin.yaml'), 'utf8');
  folder.write({
    'plugins/third/plugin.yaml': manifest.replace(
      /^runtime: .*\nmodule: .*$/m,
      'runtime: process\ncommand: [node, index.ts]',
    ),
  });
  const printed = await run(
    folder,
    `
print(registry.problems());
for (const name of ['first', 'second', 'third']) print(await call(name + '_count_words', { text: 'three small words' }));`,
  );
  expect(printed).toEqual([[], { words: 3 }, { words: 3 }, { words: 3 }]);
});

test('after close nothing keeps the process alive, though plugins have timers of their own', async () => {
  using folder = projectFolder({
    'plugins/p/plugin.yaml':
      'name: p\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [node, index.mjs]\ntools: [{ name: work, description: x }]\n',
    'plugins/p/index.mjs': `import { serve } from '@chassis/sdk'; setInterval(() => {}, 1000); await serve({ tools: { work: () => 1 } });`,
  });
  expect(await run(folder, `print(await call('work'));`)).toEqual([1]);
});

test('a module that cannot be loaded names file, line and column', async () => {
  const manifest = (name: string, module: string) =>
    inlineManifest(name, `tools: [{ name: ${name}_tool, description: x }]`).replace('./index.mjs', module);
  using folder = projectFolder({
    'plugins/a/plugin.yaml': manifest('a', './index.ts'),
    'plugins/a/index.ts': 'const x: number = 1;\nconst const = 2;\n',
    'plugins/b/plugin.yaml': manifest('b', './index.mjs'),
    'plugins/b/index.mjs': '\n  let let = 5;\n',
    'plugins/c/plugin.yaml': manifest('c', './index.ts'),
    'plugins/c/index.ts': "import './part.ts';\nexport default {};\n",
    'plugins/c/part.ts': '\n\nnull.x;\n',
  });
  const printed = await run(folder, 'for (const record of registry.problems()) print(record.cause.message);');
  const at = (path: string) => `${join(folder.root, 'plugins', path)} cannot be loaded: `;
  expect(printed).toEqual([
    expect.stringContaining(at('a/index.ts:2:7')),
    expect.stringContaining(at('b/index.mjs:2:7')),
    expect.stringContaining(at('c/part.ts:3:6')),
  ]);
});
