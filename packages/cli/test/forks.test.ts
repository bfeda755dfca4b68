/** Forks that change what was asked, variants side by side, and going back to a step; with real files. */
import { existsSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

let folder: Project;
let id: string;

const run = (...args: string[]) => chassis(args, { cwd: folder.path });
const result = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await run(...args, '--json');
  return { code: ended.code, stderr: ended.stderr, ...records(ended.stdout).at(-1) };
};
const file = (path = 'out.txt', at = folder.path): string | null =>
  existsSync(join(at, path)) ? readFileSync(join(at, path), 'utf8') : null;
const write = (text: string): string =>
  `  - { call: [{ name: write_file, arguments: { path: out.txt, content: ${text} } }] }\n`;

beforeAll(async () => {
  folder = project(`${write('one')}${write('two')}${says('Done.')}`);
  const ended = await result('run', 'x', '--trust', '--approve', 'all');
  expect(ended).toMatchObject({ code: 0 });
  id = ended.session as string;
});
afterAll(() => folder[Symbol.dispose]());

it('variants run in folders of their own, are verified there, and stand in a table', async () => {
  folder.write('other.yaml', 'turns:\n  - { say: Not needed., repeat: true }\n');
  const ended = await result(
    ...['fork', `${id}:2`, '--n', '2', '--param', 'temperature=0', '--script', 'other.yaml'],
    ...['--verify', 'grep -qx one out.txt', '--approve', 'all'],
  );
  const variants = ended.variants as { workspace: string; session: string }[];
  expect(ended).toMatchObject({
    code: 0,
    variants: [1, 2].map(() => ({ outcome: 'ok', answer: 'Not needed.', verify: 0, steps: 3 })),
  });
  expect(new Set(variants.map(({ workspace }) => workspace)).size).toBe(2);
  expect(file('out.txt', variants[0]?.workspace)).toBe('one');
  expect(file()).toBe('two');
  expect(await result('replay', variants[0]?.session ?? '')).toMatchObject({ code: 0, ok: true });
});

it('several models, several times each, stand side by side', async () => {
  folder.write(
    'plugins/other/plugin.yaml',
    'name: other\nversion: 1.0.0\ndescription: x\nkind: model\nruntime: inline\nmodule: ./index.mjs\nmodels: [terse]\n',
  );
  folder.write(
    'plugins/other/index.mjs',
    `const usage = { input: 7, cached: 0, output: 2, reasoning: 0, cost_usd: 0.25 };
export default { models: { terse: async () => ({ message: { role: 'assistant', content: 'Terse.' }, finish_reason: 'stop', usage, model: 'terse-1' }) } };\n`,
  );
  folder.write('other.yaml', 'turns:\n  - { say: At length., repeat: true }\n');
  const ended = await run(
    ...['fork', `${id}:2`, '--model', 'scripted', '--model', 'terse', '--n', '2', '--script', 'other.yaml'],
    ...['--approve', 'all', '--trust'],
  );
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  const rows = ended.stdout.split('\n').filter((line) => /Terse|At length/.test(line));
  expect(rows).toHaveLength(4);
  for (const [index, row] of rows.entries())
    expect(row).toMatch(index < 2 ? /scripted .* ok .*At length\./ : /terse .* ok .*\$0\.25.*Terse\./);
});

it('a fork that was only made is ready, and says where it leaves', async () => {
  const asked = await run('fork', `${id}:3`, '--set', '/input/params/temperature=0');
  expect(asked.stderr).toContain(
    `forked ${id} before step 3, which runs anew, with another /input/params/temperature`,
  );
  const fork = asked.stdout.trim();
  expect(records((await run('ls', '--json', '--outcome', 'ready')).stdout)).toMatchObject([
    { id: fork, outcome: 'ready' },
    { ok: true },
  ]);
  const shown = await run('show', fork);
  expect(shown.stdout).toContain(`forked from ${id} behind step 2`);
  expect(shown.stdout).toContain('from here on nothing has run yet');
  expect(shown.stdout).toContain(`next: chassis resume ${fork}`);
  await run('rm', fork);
});

it('rewind shows what would change, then makes a fork and a folder beside the workspace', async () => {
  expect(await result('rewind', `${id}:2`, '--dry-run')).toMatchObject({
    code: 0,
    dry_run: true,
    files: [{ path: 'out.txt' }],
    cannot_be_undone: [],
  });
  const back = await result('rewind', `${id}:2`);
  expect(back).toMatchObject({ code: 0, restored: { written: ['out.txt'], refused: [] } });
  expect(file('out.txt', back.workspace as string)).toBe('one');
  expect(file()).toBe('two');
  expect(await result('show', back.fork as string)).toMatchObject({
    session: { header: { workspace: back.workspace, parent: { session: id, step: 2 } } },
  });
});

it('in place it refuses a file that somebody changed since, and keeps what stood there otherwise', async () => {
  writeFileSync(join(folder.path, 'out.txt'), 'by hand');
  const refused = await result('rewind', `${id}:2`, '--what', 'files', '--in-place');
  expect(refused).toMatchObject({ code: 2, error: { name: 'Conflict' } });
  expect(refused.stderr).toContain('out.txt');
  expect(file()).toBe('by hand');
  writeFileSync(join(folder.path, 'out.txt'), 'two');
  const done = await result('rewind', `${id}:2`, '--what', 'files', '--in-place');
  expect(done).toMatchObject({ code: 0, fork: null });
  expect(file()).toBe('one');
  expect(file('out.txt', done.kept as string)).toBe('two');
});

it('what a command changed is on record, with modes and links, and comes back', async () => {
  folder.write('keep.sh', 'echo kept');
  folder.write(
    'shell.yaml',
    `turns:
  - call: [{ name: run_command, arguments: { script: 'chmod 755 keep.sh; ln -s keep.sh link; printf 1 > made' } }]
  - call: [{ name: run_command, arguments: { script: 'rm link made; printf changed > keep.sh; chmod 600 keep.sh; touch link' } }]
  - { say: Done. }
`,
  );
  const ended = await result('run', 'x', '--script', 'shell.yaml', '--trust', '--approve', 'all');
  expect(ended).toMatchObject({ code: 0 });
  const shown = await run('show', `${ended.session as string}:2`);
  expect(shown.stdout).toMatch(/modify keep\.sh {2}[0-9a-f]{12} 0\d{3} → [0-9a-f]{12} 0755/);
  expect(shown.stdout).toMatch(/create link {2}nothing → link [0-9a-f]{12}/);
  const back = await result('rewind', `${ended.session as string}:2`, '--what', 'files', '--in-place');
  expect(back).toMatchObject({ code: 0, restored: { written: ['keep.sh', 'link', 'made'], refused: [] } });
  expect([file('keep.sh'), file('made')]).toEqual(['echo kept', '1']);
  expect(statSync(join(folder.path, 'keep.sh')).mode & 0o777).toBe(0o755);
  expect(readlinkSync(join(folder.path, 'link'))).toBe('keep.sh');
});

it('a fork goes on with another version of a plugin', async () => {
  folder.write(
    'gate-2/plugin.yaml',
    readFileSync(join(folder.path, 'plugins/gate/plugin.yaml'), 'utf8').replace('1.0.0', '2.0.0'),
  );
  folder.write(
    'gate-2/index.ts',
    'export default { tools: { wait: () => 0, refuse: () => 0, echo: () => ({ second: true }) } };\n',
  );
  folder.write(
    'echo.yaml',
    'turns:\n  - { call: [{ name: echo, arguments: { n: 1 } }] }\n  - { say: Done. }\n',
  );
  const ended = await result('run', 'x', '--script', 'echo.yaml', '--trust');
  const fork = await result(
    ...[
      'fork',
      `${ended.session as string}:1`,
      '--plugin',
      'gate-2',
      '--clock',
      '2026-03-01',
      '--run',
      '--trust',
    ],
  );
  expect(fork).toMatchObject({ code: 0 });
  const { step } = (await result('show', `${fork.session as string}:2`)) as { step: unknown };
  expect(step).toMatchObject({ output: { second: true }, plugin: { name: 'gate', version: '2.0.0' } });
  expect(await result('fork', `${ended.session as string}:1`, '--clock', 'noon')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--clock noon: write a time with its zone') as string,
  });
});
