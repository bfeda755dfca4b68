// What only some plugins need is loaded for those, and costs the others nothing.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inlineManifest, projectFolder } from '../src/testing/project-folder.ts';

test('a session without MCP servers and without remote plugins loads none of their packages, and no web client', async () => {
  const index = join(import.meta.dirname, '../src/index.ts');
  using folder = projectFolder({
    'plugins/a/plugin.yaml': inlineManifest('a', 'tools: [{ name: t, description: x }]\n'),
    'plugins/a/index.mjs': 'export default { tools: { t: () => 1 } };',
    'run.ts': `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
const { openProject, startRegistry } = await import(${JSON.stringify(index)});
const registry = await startRegistry(await openProject({ cwd: import.meta.dirname, home: '/nonexistent' }));
const heavy = loaded.filter((url) => /@modelcontextprotocol|node_modules\\/(ws|zod|chokidar)\\//.test(url));
const web = process.moduleLoadList.filter((name) => name.includes('undici'));
console.log(JSON.stringify([registry.tools().length, heavy, web]));
await registry.close();
`,
  });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder.root, 'run.ts')]);
  expect(JSON.parse(stdout)).toEqual([1, [], []]);
});
