/** `plugin check`: what only the running code can show, and whose code is run at all. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chassis, records, tempFolder } from './support/chassis.ts';
import { project, says } from './support/project.ts';

const manifest = (tool: string): string =>
  `name: counter\nversion: 1.0.0\ndescription: Counts.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: inline\nmodule: ./index.ts\ntools: [{ name: ${tool}, description: Counts., effects: none }]\n`;
const code = 'export default { tools: { count: () => ({ words: 1 }) } };\n';

it('a tool that the manifest lists and the code does not serve is an error', async () => {
  using folder = project(says('Hi.'));
  folder.write('plugins/counter/plugin.yaml', manifest('cuont'));
  folder.write('plugins/counter/index.ts', code);
  const args = ['plugin', 'check', 'plugins/counter', '--trust'];
  const checked = await chassis(args, { cwd: folder.path });
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain(
    '✗ error: plugin.yaml lists the tool "cuont", but the plugin does not serve it',
  );
  expect(checked.stdout).not.toContain('is sound');
  folder.write('plugins/counter/plugin.yaml', manifest('count'));
  const sound = await chassis(args, { cwd: folder.path });
  expect(sound).toMatchObject({ code: 0 });
  expect(sound.stdout).toContain('✓ counter is sound and starts: count\n');
});

it('nothing of a folder that nobody trusts is run, and it says so', async () => {
  using folder = tempFolder();
  writeFileSync(join(folder.path, 'plugin.yaml'), manifest('count'));
  writeFileSync(join(folder.path, 'index.ts'), `throw new Error('it ran');\n`);
  const checked = await chassis(['plugin', 'check', '.', '--json'], { cwd: folder.path });
  expect(checked.code).toBe(0);
  expect(checked.stderr).toContain('it needs your trust: look at it, then say yes with --trust');
  expect(records(checked.stdout).at(-1)).not.toHaveProperty('started');
  const trusted = await chassis(['plugin', 'check', '.', '--trust'], { cwd: folder.path });
  expect(trusted.code).toBe(1);
  expect(trusted.stdout).toContain('it ran');
});
