import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Part of the full share only (CHASSIS_FULL=1): it builds every package and installs third-party ones.
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'chassis-published-'));

function sh(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

beforeAll(() => {
  sh(root, process.execPath, join(root, 'scripts', 'build.mjs'));
  const tarballs = readdirSync(join(root, 'dist-pack')).filter((name) => name.endsWith('.tgz'));
  const dependencies = Object.fromEntries(
    tarballs.map((name) => [
      name.replace(/^chassis-(.*)-\d+\.\d+\.\d+.*\.tgz$/, '@chassis/$1'),
      `file:${join(root, 'dist-pack', name)}`,
    ]),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  sh(folder, 'npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the published command runs from the tarballs alone', () => {
  const version = sh(folder, join(folder, 'node_modules', '.bin', 'chassis'), '--version');
  expect(version).toContain('0.1.0');
});

test('the demo runs from the tarballs alone', () => {
  const told = sh(folder, join(folder, 'node_modules', '.bin', 'chassis'), 'demo');
  expect(told.match(/no difference/g)).toHaveLength(2);
});

test('a published harness starts plugins in its own thread, in a worker and in a process', () => {
  const project = join(folder, 'project');
  mkdirSync(project);
  const chassis = (...args: string[]) =>
    sh(project, join(folder, 'node_modules', '.bin', 'chassis'), '--trust', ...args);
  chassis('plugin', 'new', 'counter');
  const manifest = join(project, 'plugins', 'counter', 'plugin.yaml');
  const written = readFileSync(manifest, 'utf8');
  const module = 'module: ./index.ts';
  for (const how of [`inline\n${module}`, `worker\n${module}`, 'process\ncommand: [node, index.ts]']) {
    writeFileSync(manifest, written.replace(/^runtime: .*\nmodule: .*$/m, `runtime: ${how}`));
    expect(chassis('plugin', 'check', 'plugins/counter')).toContain('counter is sound and starts');
  }
});

/** Files that are loaded for some code, by their addresses. */
function loadedFor(code: string): string[] {
  const seen = join(folder, 'seen.mjs');
  writeFileSync(
    seen,
    `import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load(url, context, next) { if (url.startsWith('file:')) files.push(url); return next(url, context); } });
    ${code}
    console.log(JSON.stringify(files));`,
  );
  return JSON.parse(sh(folder, process.execPath, seen)) as string[];
}

test('importing the JSON-RPC peer loads a handful of files', () => {
  expect(loadedFor(`await import('@chassis/jsonrpc');`).length).toBeLessThan(10);
});

test('opening a project compiles no schema, and loads neither the compiler nor what runs plugins', () => {
  const project = join(folder, 'static');
  mkdirSync(join(project, 'plugins', 'a'), { recursive: true });
  writeFileSync(join(project, 'chassis.yaml'), 'limits: { steps: 0 }\n');
  writeFileSync(join(project, 'plugins', 'a', 'plugin.yaml'), 'name: a\nversoin: 1.0.0\n');
  const open = (more: string) =>
    loadedFor(`const { openProject } = await import('@chassis/runtime/project');
    const project = openProject({ cwd: ${JSON.stringify(project)}, home: ${JSON.stringify(project)}, env: {} });
    ${more}`);
  const refused = open(
    `const said = await project.then(() => '', (error) => error.message);
    if (!said.endsWith('chassis.yaml:1:18: expected a number >= 1, found a number (0)')) throw new Error(said);`,
  );
  writeFileSync(join(project, 'chassis.yaml'), '');
  const opened = open(
    `const [{ record }] = (await project).catalogue.broken;
    if (!record.cause.message.includes('did you mean "version"?')) throw new Error(record.cause.message);`,
  );
  for (const files of [refused, opened]) {
    expect(files.filter((file) => /node_modules\/(ajv|yaml|ws|undici)\//.test(file))).toEqual([]);
    expect(files.length).toBeLessThan(40);
  }
});

test('every published package can be imported by its name', () => {
  const names = readdirSync(join(folder, 'node_modules', '@chassis'));
  const imports = names.map((name) => `await import('@chassis/${name}');`).join('');
  expect(sh(folder, process.execPath, '--input-type=module', '-e', `${imports}console.log('ok')`)).toBe(
    'ok\n',
  );
});

test('every published manifest points at a module that is there', () => {
  const manifests = globSync('node_modules/@chassis/**/plugin.yaml', { cwd: folder });
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) {
    const path = /^module:\s*["']?([^\s"'#]+)/m.exec(readFileSync(join(folder, manifest), 'utf8'))?.[1];
    if (path) expect(existsSync(join(folder, dirname(manifest), path)), `${manifest}: ${path}`).toBe(true);
  }
});

test('what a package needs from outside its folder ships with it', () => {
  const shipped = join(folder, 'node_modules', '@chassis');
  expect(existsSync(join(shipped, 'runtime', 'python', 'chassis_sdk.py'))).toBe(true);
  expect(existsSync(join(shipped, 'cli', 'examples', 'incident'))).toBe(true);
  // Code of others that has come into a package brings its licence, and is not installed again.
  expect(readFileSync(join(shipped, 'cli', 'dist', 'THIRD-PARTY.txt'), 'utf8')).toMatch(/^commander$.*MIT/ms);
  expect(readFileSync(join(shipped, 'cli', 'package.json'), 'utf8')).not.toContain('"commander"');
});
