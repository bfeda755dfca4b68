/** `chassis replay` with real sessions: mixed boundaries, a step to stop at, what is covered, what a divergence says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { calls, type Project, project } from './support/project.ts';

let folder: Project;

const run = (...args: string[]) => chassis(args, { cwd: folder.path });
const result = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await run(...args, '--json');
  return { code: ended.code, ...records(ended.stdout).at(-1) };
};
const TOOL = `export default { tools: {
  wait: () => ({ waited: true }),
  echo: (input) => ({ ...input, version: VERSION }),
  refuse: () => null,
} };
`;

beforeAll(async () => {
  folder = project(calls('echo', { n: 1 }, 'It is done.'));
  folder.write('plugins/gate/index.ts', TOOL.replace('VERSION', '1'));
  const ended = await run('run', 'x', '--trust', '-q');
  expect(ended).toMatchObject({ code: 0, stdout: 'It is done.\n' });
  folder.write('plugins/gate/index.ts', TOOL.replace('VERSION', '2'));
});
afterAll(() => folder[Symbol.dispose]());

it('says what the record covers and what ran outside of it', async () => {
  const ended = await run('replay', '@last');
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('on record: 2 model calls, 1 tool call');
  expect(ended.stdout).toMatch(/not on record:\n {4}default-agent: .*Math\.random/);
  expect(ended.stdout).toContain('gate: files, network and environment');
});

it('stops at the step that is asked for, and tells what is covered up to there', async () => {
  expect(await result('replay', '@last:1')).toMatchObject({
    code: 0,
    steps: 1,
    until: 1,
    covered: { model: 1, tool: 0 },
  });
  expect(await result('replay', '@last', '--until', '2')).toMatchObject({ code: 0, steps: 2, until: 2 });
});

it('runs a new version of a plugin against the recorded model, and writes nothing', async () => {
  const before = await run('ls', '--json');
  const ended = await run('replay', '@last', '--live', 'tools', '--trust');
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(
    /^\? .*: 1 step ran, 2 from the record, outcome ok, not the same as on record$/m,
  );
  expect(ended.stdout).toContain('first difference from the record: step 2 /output/version');
  expect(ended.stdout).toContain('the answer is the recorded one: no model has seen what differs');
  expect(ended.stdout).toContain('plugin gate 1.0.0 has other code than 1.0.0');
  expect(ended.stdout).toContain('nothing was written');
  expect((await run('ls', '--json')).stdout).toBe(before.stdout);
});

it('keeps what it made when it is asked to, as a session that replays', async () => {
  const made = await result('replay', '@last', '--live', 'gate', '--save', '--trust');
  expect(made).toMatchObject({
    code: 0,
    steps: { recorded: 2, live: 1 },
    difference: { difference: { path: '/output/version', expected: 1, actual: 2 } },
  });
  const id = made.made as string;
  expect(await result('replay', id)).toMatchObject({ code: 0, ok: true, steps: 3 });
  expect(await result('show', id)).toMatchObject({
    session: { header: { settings: { made_of: { live: ['gate'] } } } },
  });
  expect(await result('verify', id)).toMatchObject({ ok: true });
  await run('rm', id);
});

it('a live model that goes another way is told what the record has instead', async () => {
  folder.write('other.yaml', `turns:\n${calls('echo', { n: 2 }, 'Other.')}`);
  const ended = await run('replay', '@last', '--live', 'model', '--script', 'other.yaml', '--trust');
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain('diverges at step 2 /input/n');
  expect(ended.stdout).toContain('nearest on record: step 2 (echo), /input/n is 1 there, 2 here');
});

it('refuses what it would have to ignore', async () => {
  expect(await run('replay', '@last', '--save')).toMatchObject({ code: 2 });
  expect((await run('replay', '@last', '--live', 'ecco', '--trust')).stderr).toContain('ecco is neither');
});

it('context shows what the model saw, block by block, and what is new in it', async () => {
  const seen = await result('context', '@last');
  expect(seen).toMatchObject({ code: 0, step: 3, previous: 1 });
  const blocks = seen.blocks as { kind: string; isNew: boolean; source?: number; name?: string }[];
  expect(blocks.filter(({ isNew }) => isNew)).toMatchObject([
    { kind: 'assistant', source: 1 },
    { kind: 'tool', source: 2, name: 'echo' },
  ]);
  const page = await run('context', '@last:2');
  expect(page.stdout).toMatch(/:1 {2}/);
  expect(page.stdout).toMatch(/user .* x$/m);
});

it('strict replay goes at a pace when asked to, step by step', async () => {
  const ended = await run('replay', '@last', '--speed', '100');
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toMatch(
    /step 1 {2}model scripted.*\n.*step 2 {2}tool echo.*\n.*step 3 {2}model scripted/,
  );
  expect(await run('replay', '@last', '--speed', 'fast')).toMatchObject({ code: 2 });
  expect(await run('replay', '@last', '--speed', '2', '--live', 'model')).toMatchObject({ code: 2 });
});

it('dry tools and the files as they were: what reads runs there, nothing is changed here', async () => {
  folder.write('in.txt', 'then');
  folder.write(
    'files.yaml',
    `turns:
  - call: [{ name: read_file, arguments: { path: in.txt } }, { name: write_file, arguments: { path: in.txt, content: mine } }]
  - { say: Done. }
`,
  );
  const first = await result('run', 'x', '--script', 'files.yaml', '--trust', '--approve', 'all');
  expect(first).toMatchObject({ code: 0 });
  folder.write('in.txt', 'by hand');
  const made = await result(
    'replay',
    first.session as string,
    '--dry',
    'tools',
    '--files',
    'recorded',
    '--trust',
  );
  expect(made).toMatchObject({ code: 0, steps: { live: 1, recorded: 3 }, difference: null });
  expect(made.workspace).not.toBe(folder.path);
  expect(readFileSync(join(folder.path, 'in.txt'), 'utf8')).toBe('by hand');
  const live = await result(
    'replay',
    first.session as string,
    '--dry',
    'tools',
    '--files',
    'live',
    '--trust',
  );
  expect(live).toMatchObject({ code: 0, difference: { a: 2 } });
});
