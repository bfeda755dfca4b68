/** `chassis test`: a session is kept, replayed, missed by a changed agent, recorded anew, and approved. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentTests } from '@chassis/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bin, chassis, environment } from './support/chassis.ts';
import { calls, type Project, project } from './support/project.ts';

let folder: Project;
const run = (...args: string[]) => chassis(args, { cwd: folder.path });
const spec = (): string => readFileSync(join(folder.path, 'tests/agents/echo-once.test.yaml'), 'utf8');

beforeAll(async () => {
  folder = project(calls('echo', { n: 1 }, 'It is done.'));
  expect(await run('run', 'Echo once', '--trust', '-q')).toMatchObject({ code: 0 });
  expect(await run('test', 'add', '@last')).toMatchObject({ code: 0 });
});
afterAll(() => folder[Symbol.dispose]());

it('the test is readable, and passes', async () => {
  expect(spec()).toContain('name: Echo once\nrecording: echo-once.session.jsonl\ninput:\n  - Echo once\n');
  expect(spec()).toContain('  final:\n    equals: It is done.\n');
  const ended = await run('test', 'run', '--reporter', 'tap');
  expect(ended).toMatchObject({ code: 0, stdout: 'TAP version 14\n1..1\nok 1 - Echo once\n' });
});

it('an agent that does something else fails it, in another test runner too', async () => {
  const other = join(folder.path, 'other-agent');
  mkdirSync(other);
  writeFileSync(
    join(other, 'plugin.yaml'),
    'name: default-agent\nversion: 9.0.0\ndescription: Guesses.\nchassis: ">=0.1 <1"\nkind: agent\nruntime: inline\nmodule: ./index.ts\nagents: [{ name: default, description: Guesses. }]\n',
  );
  writeFileSync(join(other, 'index.ts'), "export default { agents: { default: () => 'about 250' } };\n");
  const env = environment(folder.path);
  const through = (...more: string[]) =>
    agentTests('tests/agents', {
      command: [
        '/usr/bin/env',
        ...['-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
        ...[process.execPath, bin, ...more],
      ],
      cwd: folder.path,
    });
  const [test] = await through('--plugin', other);
  expect(test).toMatchObject({ name: 'Echo once' });
  expect(() => test?.check()).toThrow(/replay: the agent ended turn 1 without step 1/);
  const [same] = await through();
  expect(() => same?.check()).not.toThrow();
});

it('what a normaliser names may differ in requests, and nothing else', async () => {
  const agent = join(folder.path, 'dated-agent');
  mkdirSync(agent);
  writeFileSync(
    join(agent, 'plugin.yaml'),
    'name: dated\nversion: 1.0.0\ndescription: Asks with an id.\nchassis: ">=0.1 <1"\nkind: agent\nruntime: inline\nmodule: ./index.ts\nagents: [{ name: dated, description: Asks. }]\n',
  );
  writeFileSync(
    join(agent, 'index.ts'),
    `import { randomUUID } from 'node:crypto';
export default { agents: { dated: async (input, ctx) => {
  const content = \`request \${randomUUID()} took \${performance.now()} ms\`;
  const { message } = await ctx.call('model.generate', { messages: [{ role: 'user', content }] });
  return { answer: message.content };
} } };
`,
  );
  const own = ['--plugin', 'dated-agent', '--trust'];
  folder.write('once.yaml', 'turns:\n  - { say: Yes. }\n');
  expect(await run('run', 'ask', '--agent', 'dated', '--script', 'once.yaml', ...own)).toMatchObject({
    code: 0,
  });
  expect(await run('test', 'add', '@last', '--dir', 'dated', '--name', 'dated')).toMatchObject({ code: 0 });
  expect(await run('test', 'run', 'dated', ...own)).toMatchObject({ code: 0 });
  const file = join(folder.path, 'dated/dated.test.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^ {2}- ids\n/m, ''));
  const missed = await run('test', 'run', 'dated', ...own);
  expect(missed.code).toBe(1);
  expect(missed.stdout).toContain(
    'replay: step 1 (model scripted) differs from the record at /input/messages/0/content',
  );
});

it('a bundle becomes a test as a session does', async () => {
  const bundle = 'tests/agents/echo-once.session.jsonl';
  expect(await run('test', 'add', bundle, '--name', 'again', '--dir', 'from-bundle')).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(folder.path, 'from-bundle/again.session.jsonl'))).toEqual(
    readFileSync(join(folder.path, bundle)),
  );
  expect(await run('test', 'run', 'from-bundle')).toMatchObject({ code: 0 });
});

it('mistakes of all files are told at once, and tests of one name are told apart', async () => {
  const beside = (name: string, text: string) => folder.write(`more/${name}.test.yaml`, text);
  beside('a', 'name: x\nname: y\nrecording: r\nexpect: {}\n');
  beside('b', '');
  const wrong = await run('test', 'run', 'more');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/more\/a\.test\.yaml:2:1: .*\n.*more\/b\.test\.yaml/);
  // One that cannot be read fails; the others are run.
  beside('good', 'name: good\nrecording: ../tests/agents/echo-once.session.jsonl\nexpect: {}\n');
  beside('gone', 'name: gone\nrecording: nowhere.session.jsonl\nexpect: {}\n');
  const some = await run('test', 'run', 'more');
  expect(some.code).toBe(1);
  expect(some.stdout).toMatch(/passed good \(\d+ steps\)/);
  expect(some.stdout).toMatch(/FAILED more\/a\.test\.yaml.*\n.*a\.test\.yaml:2:1: /);
  expect(some.stdout).toMatch(/FAILED more\/gone\.test\.yaml.*\n.*nowhere.session.jsonl is not there/);
  expect(some.stdout).toMatch(/1 passed, 3 failed/);
  for (const name of ['good', 'gone']) rmSync(join(folder.path, `more/${name}.test.yaml`));
  for (const name of ['a', 'b'])
    beside(
      name,
      'name: "one <&> \\u0007"\nrecording: ../tests/agents/echo-once.session.jsonl\nexpect: { final: { equals: "]]>" } }\n',
    );
  const ended = await run('test', 'run', 'more', '--reporter', 'junit');
  expect(ended.code).toBe(1);
  const read = spawnSync(
    '/usr/bin/python3',
    [
      '-c',
      'import sys, xml.etree.ElementTree as E\nfor c in E.fromstring(sys.stdin.buffer.read()).iter("testcase"): print(c.get("name"), c.find("failure").get("message"))',
    ],
    { input: ended.stdout, encoding: 'utf8' },
  );
  expect(read.stdout.split('\n')).toEqual([
    expect.stringMatching(/^one <&> . \(more\/a\.test\.yaml\) the answer is another$/),
    expect.stringMatching(/^one <&> . \(more\/b\.test\.yaml\) the answer is another$/),
    '',
  ]);
});

it('is recorded anew when asked, missed by what it says then, and approved', async () => {
  folder.write('script.yaml', `turns:\n${calls('echo', { n: 1 }, 'It is done twice.')}`);
  const missed = await run('test', 'run', '--mode', 'rewrite', '--trust', '--reporter', 'github');
  expect(missed.code).toBe(1);
  expect(missed.stdout).toContain(
    '::error file=tests/agents/echo-once.test.yaml,title=Echo once::/expect/final/equals',
  );
  expect(await run('test', 'approve', 'tests/agents')).toMatchObject({ code: 0 });
  expect(spec()).toContain('equals: It is done twice.');
  expect(await run('test', 'run')).toMatchObject({ code: 0 });
});

const helperFolder = fileURLToPath(new URL('../../../python', import.meta.url));

const pytest = spawnSync('/usr/bin/python3', ['-m', 'pytest', '--version']).status === 0;

it.runIf(pytest)('pytest collects the same tests', async () => {
  folder.write(
    'conftest.py',
    `import sys
sys.path.insert(0, ${JSON.stringify(helperFolder)})
import chassis_testing
from chassis_testing import pytest_collect_file
whole = chassis_testing.agent_tests
chassis_testing.agent_tests = lambda path: whole(path, command=${JSON.stringify([process.execPath, bin])})
`,
  );
  const args = ['-m', 'pytest', '-v', '-p', 'no:cacheprovider', 'tests/agents'];
  const ended = await chassis(args, { cwd: folder.path, through: ['/usr/bin/python3'] });
  expect(ended.stdout + ended.stderr).toMatch(/echo-once\.test\.yaml::Echo once PASSED/);
  expect(ended.code).toBe(0);
});

it('any other Python runner can have them, too', async () => {
  const helper = fileURLToPath(new URL('../../../python/chassis_testing.py', import.meta.url));
  const script = `
import importlib.util, sys
spec = importlib.util.spec_from_file_location('chassis_testing', ${JSON.stringify(helper)})
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
for test in module.agent_tests('tests/agents', command=${JSON.stringify([process.execPath, bin])}):
    test.check(); print('passed', test.name)
`;
  const ended = await chassis(['-c', script], { cwd: folder.path, through: ['python3'] });
  expect(ended).toMatchObject({ code: 0, stdout: 'passed Echo once\n' });
});
