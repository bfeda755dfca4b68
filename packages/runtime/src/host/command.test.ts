import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commandOf, preload } from './command.ts';

const run = promisify(execFile);
const show = ['node', '--print', 'require("node:module").getCompileCacheDir()'];

async function cacheOf(resolution?: string): Promise<string> {
  const [program = '', ...args] = commandOf(show, '/', resolution);
  const { stdout } = await run(program, args, { env: {} });
  return stdout.trim();
}

test("a plugin's process uses the compile cache of its harness", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'a cache & more '));
  try {
    const own = join(folder, 'of-this-version');
    expect((await cacheOf(preload(own))).startsWith(folder)).toBe(true);
    expect(await cacheOf(preload(own))).not.toContain('of-this-version');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('without one in the harness a plugin has none', async () => {
  expect(await cacheOf()).toBe('undefined');
});
