import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const launcher = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'chassis.mjs');
// Makes this Node say that it is an old one; a child that it starts says the truth again.
const old = [
  '--import',
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`,
];

let checkout = '';
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'chassis launcher-'));
  mkdirSync(join(checkout, 'packages/cli/bin'), { recursive: true });
  cpSync(launcher, join(checkout, 'packages/cli/bin/chassis.mjs'));
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

function source(text: string): void {
  mkdirSync(join(checkout, 'packages/cli/src'), { recursive: true });
  writeFileSync(join(checkout, 'packages/cli/src/main.ts'), text);
}

function install(): void {
  const bin = join(checkout, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, 'node'));
}

function start(flags: readonly string[] = [], args: readonly string[] = []): ChildProcess {
  const env = { ...process.env, XDG_CACHE_HOME: join(checkout, 'cache'), CHASSIS_DEBUG: '' };
  return spawn(process.execPath, [...flags, join(checkout, 'packages/cli/bin/chassis.mjs'), ...args], {
    env,
  });
}

async function end(
  child: ChildProcess,
): Promise<{ code: unknown; signal: unknown; out: string; err: string }> {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (piece) => {
    out += piece;
  });
  child.stderr?.on('data', (piece) => {
    err += piece;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, out, err };
}

describe('in a checkout', () => {
  test('runs the source with the arguments given', async () => {
    source('const args: string[] = process.argv.slice(2); console.log(args.join());');
    install();
    expect(await end(start([], ['ls', '--json']))).toEqual({
      code: 0,
      signal: null,
      out: 'ls,--json\n',
      err: '',
    });
  });

  test('without node_modules one line says what to run', async () => {
    source('');
    const { code, out, err } = await end(start());
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^chassis: nothing is installed yet: run `npm run demo` or `npm ci` in .*\n$/);
  });

  test('a source that does not load gives one line, and its stack only with --debug', async () => {
    source("import './gone.ts';");
    install();
    const quiet = await end(start());
    expect(quiet).toMatchObject({ code: 1, out: '' });
    expect(quiet.err).toMatch(/^chassis: could not start: .*gone\.ts.*\n$/);
    expect((await end(start([], ['--debug']))).err).toContain('\n    at ');
  });
});

test('in a published package the compiled command runs', async () => {
  mkdirSync(join(checkout, 'packages/cli/dist'));
  writeFileSync(join(checkout, 'packages/cli/package.json'), '{ "type": "module" }');
  writeFileSync(join(checkout, 'packages/cli/dist/main.js'), "console.log('compiled');");
  expect(await end(start())).toEqual({ code: 0, signal: null, out: 'compiled\n', err: '' });
});

describe('under a Node that is too old', () => {
  test('the pinned Node takes over and its exit code is passed on', async () => {
    source('console.log(process.versions.node); process.exitCode = 7;');
    install();
    expect(await end(start(old))).toEqual({
      code: 7,
      signal: null,
      out: `${process.versions.node}\n`,
      err: '',
    });
  });

  test('without a pinned Node one line says which is needed', async () => {
    source('');
    mkdirSync(join(checkout, 'node_modules'));
    const { code, err } = await end(start(old));
    expect({ code, err }).toEqual({ code: 2, err: 'chassis: needs Node 24.11 or newer, this is 20.20.2\n' });
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s reaches the command exactly once',
    async (signal) => {
      source(`
      process.on('${signal}', () => { console.log('got ${signal}'); setTimeout(() => process.exit(130), 200); });
      setInterval(() => {}, 1000);
      console.log('ready');
    `);
      install();
      const child = start(old);
      child.stdout?.once('data', () => child.kill(signal));
      expect(await end(child)).toEqual({ code: 130, signal: null, out: `ready\ngot ${signal}\n`, err: '' });
    },
  );

  test('a command that dies by a signal is reported as such', async () => {
    source("setInterval(() => {}, 1000); console.log('ready');");
    install();
    const child = start(old);
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    expect(await end(child)).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});
