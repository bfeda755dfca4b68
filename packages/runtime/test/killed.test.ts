// A harness that is killed without a word, at any point of a load, a reload or an unload: nothing of what it ran stays behind, and
// the next one has every capability again. Plugins at rest are at rest still, and nobody is put to rest for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { isUnavailable, type LiveRegistry, restsIn, startRegistry } from '../src/index.ts';
import { invocation, projectFolder } from '../src/testing/project-folder.ts';

/** A process with a child of its own, which it notes down; both ignore what can be ignored. */
const worker = (answer: string) => `
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import readline from 'node:readline';
process.on('SIGTERM', () => {});
const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
appendFileSync('../../pids', process.pid + '\\n' + child.pid + '\\n');
const answers = { 'plugin.load': {}, 'plugin.ready': true, 'plugin.shutdown': null, 'plugin.invoke': { code: 0, data: '${answer}', error: null } };
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? null }));
});
`;

const inProcess = (name: string, answer = name) => ({
  [`plugins/${name}/plugin.yaml`]: `name: ${name}\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [node, main.mjs]\ntools: [{ name: ${name}_tool, description: x, effects: none }]\n`,
  [`plugins/${name}/main.mjs`]: worker(answer),
});

/** Beside the plugins, until the harness moves it there. */
const later = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path.replace('plugins/', 'later/'), text]));

/** Starts, then does one change of plugin `a`, and is killed at the point that it is given. */
const HARNESS = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { openProject, restsIn, startRegistry } from '${join(import.meta.dirname, '../src/index.ts')}';
const [change, point] = process.argv.slice(2);
let armed = change === 'start';
const registry = await startRegistry(await openProject({ cwd: import.meta.dirname, home: '/nonexistent' }), {
  rests: restsIn('rests.json'),
  at: (reached, plugin) => {
    if (!armed || reached !== point || plugin !== (change === 'load' ? 'new' : 'a')) return;
    writeFileSync('reached', point);
    process.kill(process.pid, 'SIGKILL');
  },
});
// Somebody listens, so that there is somebody to tell.
registry.subscribe(() => {});
const file = 'plugins/a/main.mjs';
if (change === 'reload') writeFileSync(file, readFileSync(file, 'utf8').replace("data: 'a'", "data: 'newer'"));
if (change === 'load') renameSync('later/new', 'plugins/new');
armed = true;
if (change === 'unload') await registry.unload('a');
else await registry.reload(change === 'load' ? 'new' : 'a');
// What goes on behind the change, its drain and its end, belongs to it.
await new Promise((resolve) => setTimeout(resolve, 20_000));
process.exit(9);
`;

const starting = ['prepare', 'host', 'load', 'loaded', 'ready'];
const swapping = ['build', 'swap', 'tell'];
const ending = ['drain', 'retire', 'close'];
const everyPoint = [
  ...starting.map((point) => ['start', point]),
  ...['read', 'admit', 'resolve', ...starting, ...swapping].map((point) => ['load', point]),
  ...['read', 'admit', 'resolve', ...starting, ...swapping, ...ending].map((point) => ['reload', point]),
  ...['unload', ...swapping, ...ending].map((point) => ['unload', point]),
] as [string, string][];

/** A few of them, by a seed; with CHASSIS_FULL all. What failed is named by its test. */
const seed = Number(process.env.CHASSIS_SEED ?? Math.floor(Math.random() * 2 ** 31));
const apart = Math.ceil(everyPoint.length / 3);
const chosen =
  process.env.CHASSIS_FULL === '1' ? everyPoint : everyPoint.filter((_, at) => at % apart === seed % apart);

test.each(chosen)('killed during %s, at "%s"', { timeout: 120_000 }, async (change, point) => {
  using folder = projectFolder({
    ...inProcess('a'),
    ...inProcess('b'),
    ...inProcess('resting'),
    ...later(inProcess('new')),
    'harness.ts': HARNESS,
  });
  const rests = restsIn(join(folder.root, 'rests.json'));
  const atRest = (await folder.open()).catalogue.find('resting');
  if (atRest === undefined) throw new Error('it is there');
  rests.add(atRest, {
    capability: 'plugin.resting',
    owner: 'resting',
    phase: 'on_load',
    cause: { code: -32004, name: 'Unavailable', message: 'it fails again and again' },
    since: 0,
    alternatives: [],
    fix: 'look at it',
  });
  const harness = spawn(process.execPath, ['harness.ts', change, point], {
    cwd: folder.root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 90_000,
    killSignal: 'SIGKILL',
  });
  const said = text(harness.stderr);
  const [code, signal] = (await once(harness, 'exit')) as [number | null, string | null];
  expect({ code, signal, said: await said }).toEqual({ code: null, signal: 'SIGKILL', said: '' });
  expect(readFileSync(join(folder.root, 'reached'), 'utf8')).toBe(point);

  const file = join(folder.root, 'pids');
  const pids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 30_000 });

  const registry = await startRegistry(await folder.open(), { rests });
  try {
    expect(await answer(registry, 'a_tool')).toBe(change === 'reload' ? 'newer' : 'a');
    expect(await answer(registry, 'b_tool')).toBe('b');
    if (change === 'load') expect(await answer(registry, 'new_tool')).toBe('new');
    expect(registry.problems()).toMatchObject([
      { owner: 'resting', cause: { message: 'it fails again and again' } },
    ]);
  } finally {
    await registry.close();
  }
});

async function answer(registry: LiveRegistry, tool: string): Promise<unknown> {
  const found = registry.resolveTool(tool);
  if (isUnavailable(found)) throw new Error(found.cause.message);
  return (await found.invoke(invocation({ tool, input: {} }))).data;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
