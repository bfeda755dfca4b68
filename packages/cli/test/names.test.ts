/** A wrong name, option or file: exit 2, one line that says what is wrong and what was probably meant. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

let folder: Project;
let id: string;

beforeAll(async () => {
  folder = project(says('Hi.'));
  await chassis(['run', 'x', '--trust', '-q'], { cwd: folder.path });
  const listed = await chassis(['ls', '--json'], { cwd: folder.path });
  id = records(listed.stdout)[0]?.id as string;
});
afterAll(() => folder[Symbol.dispose]());

describe('a command line that makes no sense', () => {
  it.each([
    [['shwo'], "unknown command 'shwo'; did you mean show?"],
    [
      ['plugin', 'foo'],
      "unknown command 'foo'; chassis plugin has ls, show, check, test, bisect, new, pins, reload, unload",
    ],
    [['help', 'xyzzy'], "unknown command 'xyzzy'; chassis --help lists them"],
    [['help', 'shwo'], 'did you mean "show"?'],
    [['test'], 'a command is missing: chassis test has add, run, approve'],
    [['ls', '--cwd', '/nope'], '--cwd /nope: there is no such folder'],
    [['fork', '@last', '--at', '2x'], '--at 2x: a step is a number, fail, cause or end'],
    [['run', '--session', 'nope', 'x'], 'there is no session nope; chassis ls lists them'],
    [['run', 'x', '--agent', 'nope'], 'there is no agent "nope"; there is default'],
    [['run', 'x', '--config', 'workspace=nowhere'], 'there is no folder'],
    [['plugin', 'lst'], "unknown command 'lst'; did you mean ls?"],
    [['ls', '--faild'], "unknown option '--faild'; did you mean --failed?"],
    [['show'], "missing required argument 'address'"],
    [['ls', '--since', 'yesterday'], '--since yesterday: write a span'],
    [['show', '@last:99'], 'has no step 99: it has step 1 only'],
    [['show', '@last:x'], '"x" is no step'],
    [['show', '@last:1#/outptu'], 'there is nothing at /outptu'],
    [['fork', '@last'], '--at STEP'],
    [['fork', '@last:1', '--set', '/output/message={'], 'column 18'],
    [['run', 'x', '--model', 'script'], 'there is no model "script"; did you mean "scripted"?'],
    [['run', 'x', '--agent', 'defualt'], 'there is no agent "defualt"; did you mean "default"?'],
    [['run', 'x', '--script', 'nowhere.yaml'], '--script nowhere.yaml: there is no such file'],
    [['run', 'x', '--plugin', './nowhere'], 'nowhere does not exist'],
    [['run', 'x', '--config', 'limits.stpes=3'], 'unknown key "stpes"; did you mean "steps"?'],
    [['plugin', 'show', 'gaet'], 'there is no plugin "gaet"; did you mean "gate"?'],
    [['ls', '--store', 'postgres://x/y'], 'there is no store of kind postgres'],
  ])('%j', async (args, why) => {
    const ended = await chassis(args, { cwd: folder.path });
    expect(ended.stderr.split('\n').filter((line) => line.startsWith('chassis: '))).toHaveLength(1);
    expect(ended.stderr).toContain(why);
    expect(ended.stderr).not.toMatch(/\n {4}at /);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });

  it('names the nearest session for one that is not there', async () => {
    const wrong = `${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`;
    const ended = await chassis(['show', wrong, '--json'], { cwd: folder.path });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(id);
    expect(records(ended.stdout)).toMatchObject([
      { type: 'result', ok: false, exit: 2, error: { name: 'InvalidParams' } },
    ]);
  });

  it('shows a stack only when it is asked for', async () => {
    const ended = await chassis(['show', 'nothing-like-it', '--debug'], { cwd: folder.path });
    expect(ended.stderr).toMatch(/\n {4}at /);
  });
});

describe('a file with a mistake in it', () => {
  it.each([
    [
      'chassis.yaml',
      'model: scripted\nlimits: { steps: many }\n',
      /chassis\.yaml:2:\d+: expected a whole number/,
    ],
    [
      'script.yaml',
      'turns:\n  - { sya: Hi. }\n',
      /script\.yaml:2:\d+: unknown key "sya"; did you mean "say"/,
    ],
    [
      'plugins/gate/plugin.yaml',
      'name: gate\nversion: one\ndescription: A gate.\nruntime: inline\nmodule: ./index.ts\n',
      /plugin\.yaml:2:\d+: /,
    ],
  ])('%s: its place is named', async (file, text, place) => {
    using own = project(says('Hi.'), 'agent: { use: default }\n');
    own.write(file, text);
    const args = file.startsWith('plugins')
      ? ['plugin', 'check', 'plugins/gate']
      : ['run', 'x', '--trust', '-q'];
    const ended = await chassis(args, { cwd: own.path });
    expect(ended.stdout + ended.stderr).toMatch(place);
    expect(ended.code).toBe(file.startsWith('plugins') ? 1 : 2);
  });
});

describe('help', () => {
  it('of the whole, and of every command with examples, is on stdout', async () => {
    const whole = await chassis([], { cwd: folder.path });
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    const names = [...whole.stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? '');
    expect(names).toEqual(
      expect.arrayContaining(['run', 'ls', 'why', 'fork', 'replay', 'verify', 'init', 'plugin']),
    );
    const one = await chassis(['fork', '--help'], { cwd: folder.path });
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(one.stdout).toMatch(/Examples:\n {2}\$ chassis fork /);
    const version = await chassis(['--version'], { cwd: folder.path });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
