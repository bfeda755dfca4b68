/** `chassis bisect` with real runs: the step, the block of the prompt, the plugin that flips an answer. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { type Project, project } from './support/project.ts';

let folder: Project;
const result = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await chassis([...args, '--json'], { cwd: folder.path });
  return { code: ended.code, ...records(ended.stdout).at(-1) };
};

/** Three calls; the answer tells whether any of them gave 9. */
const script = `  - { when: { turn: 1 }, call: [{ name: echo, arguments: { n: 1 } }], repeat: true }
  - { when: { result_path: /n, equals: 9 }, say: bad, repeat: true }
  - { when: { result_path: /n, equals: 1 }, call: [{ name: echo, arguments: { n: 2 } }], repeat: true }
  - { when: { result_path: /n, equals: 2 }, call: [{ name: echo, arguments: { n: 3 } }], repeat: true }
  - { when: { result_path: /n, equals: 3 }, say: good, repeat: true }
`;
const good = ['--test', 'test "$CHASSIS_ANSWER" = good'];
let id: string;

beforeAll(async () => {
  folder = project(script);
  const ran = await result('run', 'x', '--trust');
  expect(ran).toMatchObject({ code: 0, answer: 'good' });
  id = ran.session as string;
});
afterAll(() => folder[Symbol.dispose]());

it('names the step whose answer flips the run, and leaves no trial behind', async () => {
  const bad = await result('fork', `${id}:4`, '--set', '/output/n=9', '--run');
  expect(bad).toMatchObject({ answer: 'bad' });
  const listed = (await chassis(['ls', '--json'], { cwd: folder.path })).stdout;
  const found = await result('bisect', id, bad.session as string, ...good);
  expect(found).toMatchObject({ code: 0, change: { step: 4, what: 'step 4 (tool echo)' } });
  expect((await chassis(['ls', '--json'], { cwd: folder.path })).stdout).toBe(listed);
  const places = join(folder.path, '.chassis/workspaces');
  expect(existsSync(places) ? readdirSync(places) : []).toEqual([]);
});

it('keeps the trials when asked to, marked as such', async () => {
  const bad = await result('fork', `${id}:6`, '--set', '/output/n=9', '--run');
  const found = await result('bisect', id, bad.session as string, ...good, '--keep');
  const trials = found.trials as { session: string; workspace: string }[];
  expect(trials.length).toBeGreaterThan(0);
  for (const { session, workspace } of trials) {
    expect(await result('show', session)).toMatchObject({
      session: { title: 'trial of a bisection: x', header: { workspace } },
    });
    await result('rm', session);
  }
});

it('says so when the good and the bad run stand the wrong way round', async () => {
  const failed = await result('run', 'x', '--trust', '--config', 'limits.steps=1');
  const swapped = await chassis(['bisect', failed.session as string, id, '--outcome'], { cwd: folder.path });
  expect(swapped.code).toBe(2);
  expect(swapped.stderr).toContain(`chassis bisect ${id} ${failed.session as string} --outcome`);
  expect(await result('bisect', id, id, '--outcome')).toMatchObject({
    code: 2,
    error: { message: expect.stringContaining('ended as ok') as string },
  });
});

it('names the plugin whose present version flips the run', async () => {
  folder.write(
    'plugins/gate/index.ts',
    'export default { tools: { wait: () => 0, refuse: () => 0, echo: ({ n }) => ({ n: n === 2 ? 9 : n }) } };\n',
  );
  expect(await result('bisect', id, '--over', 'plugins', ...good, '--trust')).toMatchObject({
    code: 0,
    change: { what: 'plugin gate' },
    tested: [
      { changes: 0, good: true },
      { changes: 1, good: false },
    ],
  });
});

it('names the block of the prompt that flips the run', async () => {
  folder.write(
    'plugins/reader/plugin.yaml',
    'name: reader\nversion: 1.0.0\ndescription: Answers by its prompt.\nchassis: ">=0.1 <1"\nkind: model\nruntime: inline\nmodule: ./index.ts\nmodels: [{ name: reader, description: Reads. }]\n',
  );
  folder.write(
    'plugins/reader/index.ts',
    `export default { models: { reader: ({ messages }) => ({
  message: { role: 'assistant', content: messages[0].content.includes('Guess') ? 'bad' : 'good' },
  finish_reason: 'stop', usage: null, model: 'reader-1',
}) } };
`,
  );
  const prompted = (...blocks: string[]) =>
    result('run', 'x', '--trust', '--model', 'reader', '--config', `agent.system=${blocks.join('\n\n')}`);
  const [one, other] = [
    await prompted('Be brief.', 'Look it up.', 'Use euros.'),
    await prompted('Be short.', 'Guess.', 'Use dollars.'),
  ];
  expect([one.answer, other.answer]).toEqual(['good', 'bad']);
  expect(
    await result('bisect', one.session as string, other.session as string, '--over', 'prompt', ...good),
  ).toMatchObject({
    code: 0,
    first: 2,
    change: { what: 'block 2 of the prompt', detail: 'Guess.' },
    changes: [{}, {}, {}],
  });
});

it('names the commit of a plugin that flips the run, and the folder of a version', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder.path });
  const version = (n: number, third: string): string =>
    `// ${n}\nexport default { tools: { wait: () => 0, refuse: () => 0, echo: ({ n }) => ({ n: n === 3 ? ${third} : n }) } };\n`;
  git('init', '-q');
  for (const [n, third] of ['n', 'n', '9', '9', '9'].entries()) {
    folder.write('plugins/gate/index.ts', version(n, third));
    folder.write(`versions/${n}/index.ts`, version(n, third));
    folder.write(
      `versions/${n}/plugin.yaml`,
      readFileSync(join(folder.path, 'plugins/gate/plugin.yaml'), 'utf8'),
    );
    folder.write('other.txt', String(n));
    git('add', 'plugins', 'other.txt');
    git('commit', '-q', '-m', `version ${n}`);
  }
  git('commit', '-q', '--allow-empty', '-m', 'elsewhere');
  const over = ['bisect', id, '--over', 'versions', '--of', 'gate', ...good, '--trust'];
  expect(await result(...over, '--commits', 'HEAD~5..HEAD')).toMatchObject({
    code: 0,
    first: 2,
    change: { what: expect.stringMatching(/^gate at [0-9a-f]{12} version 2$/) as string },
    changes: [{}, {}, {}, {}],
  });
  expect(
    existsSync(join(folder.path, '.chassis/versions')) && readdirSync(join(folder.path, '.chassis/versions')),
  ).toEqual([]);
  const folders = [0, 1, 2, 3].flatMap((n) => ['--folder', `versions/${n}`]);
  expect(await result(...over, ...folders)).toMatchObject({ code: 0, change: { what: 'versions/2' } });
  expect(await result(...over, '--commits', 'nowhere..HEAD')).toMatchObject({ code: 2 });
  expect(await result(...over)).toMatchObject({ code: 2 });
});

it('a version whose answers lead to other calls is judged by what those give now', async () => {
  for (const [n, answer] of ['1', '1', '7'].entries()) {
    folder.write(
      `chain/${n}/plugin.yaml`,
      readFileSync(join(folder.path, 'plugins/gate/plugin.yaml'), 'utf8'),
    );
    folder.write(
      `chain/${n}/index.ts`,
      `// ${n}\nexport default { tools: { wait: () => 0, refuse: () => 0, echo: () => ({ n: ${answer} }) } };\n`,
    );
  }
  folder.write('d1/right.txt', '');
  folder.write('d7/wrong.txt', '');
  folder.write(
    'chain.yaml',
    `turns:
  - { call: [{ name: echo, arguments: { n: 1 } }] }
  - { when: { tool: echo }, call: [{ name: list_files, arguments: { path: 'd{{ results.echo[0].n }}' } }] }
  - { when: { tool: list_files }, say: '{{ $string(results.list_files[0]) }}' }
`,
  );
  const ran = await result('run', 'x', '--script', 'chain.yaml', '--plugin', 'chain/0', '--trust');
  expect(ran).toMatchObject({ code: 0, answer: expect.stringContaining('right.txt') as string });
  const found = await result(
    ...['bisect', ran.session as string, '--over', 'versions', '--of', 'gate', '--trust'],
    ...[0, 1, 2].flatMap((n) => ['--folder', `chain/${n}`]),
    ...['--test', 'case "$CHASSIS_ANSWER" in *right.txt*) ;; *) exit 1; esac'],
  );
  expect(found).toMatchObject({ code: 0, change: { what: 'chain/2' } });
});
