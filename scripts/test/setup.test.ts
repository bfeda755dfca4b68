import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

// A checkout without any dependency: npm needs no network for it.
let checkout = '';
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'chassis setup-'));
  mkdirSync(join(checkout, 'scripts'));
  for (const name of ['setup.mjs', 'lock.mjs', 'pinned-node.mjs'])
    cpSync(join(import.meta.dirname, '..', name), join(checkout, 'scripts', name));
  lock('leaf');
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

function lock(...leaves: string[]): void {
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(checkout, name), JSON.stringify(value));
  const itself = { name: 'fixture', version: '1.0.0', private: true };
  const dependencies = Object.fromEntries(leaves.map((name) => [name, `file:${name}`]));
  const packages: Record<string, unknown> = { '': { ...itself, dependencies } };
  for (const name of leaves) {
    mkdirSync(join(checkout, name), { recursive: true });
    write(`${name}/package.json`, { name, version: '1.0.0' });
    packages[name] = { version: '1.0.0' };
    packages[`node_modules/${name}`] = { resolved: name, link: true };
  }
  write('package.json', packages['']);
  write('package-lock.json', { ...itself, lockfileVersion: 3, requires: true, packages });
}

async function setup(env: Record<string, string> = {}): Promise<{ code: unknown; said: string[] }> {
  const child = spawn(process.execPath, [join(checkout, 'scripts', 'setup.mjs'), '--packages'], {
    env: { ...process.env, CI: '', ...env },
  });
  let text = '';
  child.stderr.on('data', (piece) => {
    text += piece;
  });
  const [code] = await once(child, 'close');
  return { code, said: text.split('\n').filter(Boolean) };
}

const installing = 'setup: installing the packages of package-lock.json with npm ci …';

test('the first call installs, the next ones have nothing to do until the lock file changes', async () => {
  const first = await setup({ NODE_ENV: 'production', npm_config_omit: 'optional' });
  expect(first).toMatchObject({
    code: 0,
    said: [installing, expect.stringContaining('packages installed in')],
  });
  expect(await setup()).toEqual({ code: 0, said: [] });
  lock('leaf', 'another');
  expect((await setup()).said).toContain(installing);
});

test('of two calls at once one installs and both end ready', async () => {
  const both = await Promise.all([setup(), setup()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const said = both.flatMap((call) => call.said);
  expect(said.filter((line) => line === installing)).toHaveLength(1);
});

test('an install made by hand counts, as long as it agrees with the lock file', async () => {
  await setup();
  rmSync(join(checkout, 'node_modules', '.chassis-stamp'));
  expect(await setup()).toEqual({ code: 0, said: [] });
  expect(existsSync(join(checkout, 'node_modules', '.chassis-stamp'))).toBe(true);
});

test('a lock file that npm refuses ends with one line after what npm said', async () => {
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ dependencies: { other: '1.0.0' } }));
  const { code, said } = await setup();
  expect(code).toBe(2);
  expect(said.join('\n')).toContain('npm error');
  expect(said.at(-1)).toBe(`setup: npm ci failed with exit code 1 in ${checkout}`);
});
