import { describe, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { calls, project, says } from './support/project.ts';

describe('chassis run', () => {
  it('puts the answer, and nothing else, on stdout of a pipe; the session is there afterwards', async () => {
    using folder = project(calls('echo', { order: 7 }, 'Order 7 is there.'));
    const ran = await chassis(['run', 'Look', 'for', 'order 7', '--trust'], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 0, stdout: 'Order 7 is there.\n' });
    expect(ran.stderr).toMatch(/tool +echo +\{"order":7\}/);

    const listed = await chassis(['ls', '--json'], { cwd: folder.path });
    const [session, result] = records(listed.stdout);
    expect(session).toMatchObject({
      type: 'session',
      outcome: 'ok',
      title: 'Look for order 7',
      steps: 3,
      model: 'scripted',
    });
    expect(result).toMatchObject({ type: 'result', ok: true, exit: 0, sessions: 1 });

    const id = session?.id as string;
    // A prefix, @last and the id itself name the same session.
    for (const name of [id, id.slice(0, 5), '@last']) {
      const shown = await chassis(['show', `${name}:2`, '--json'], { cwd: folder.path });
      expect(records(shown.stdout).at(-1)).toMatchObject({
        address: `${id}:2`,
        step: {
          kind: 'tool',
          name: 'echo',
          input: { order: 7 },
          output: { order: 7 },
          causes: [1],
          plugin: { name: 'gate' },
        },
      });
    }
    const value = await chassis(['show', `${id}:2#/output/order`], { cwd: folder.path });
    expect(value.stdout).toBe('7\n');
  });

  it('takes the task from stdin and, with --json, prints events and a result', async () => {
    using folder = project(says('Hello.'));
    const ran = await chassis(['run', '--json', '--trust', '--title', 'Greeting'], {
      cwd: folder.path,
      input: 'Say hello\n',
    });
    const lines = records(ran.stdout);
    const result = lines.at(-1);
    expect(ran.code).toBe(0);
    expect(result).toMatchObject({ type: 'result', ok: true, exit: 0, outcome: 'ok', answer: 'Hello.' });
    const events = lines
      .filter((line) => line.type === 'event')
      .map((line) => line.event as { type: string; session: string });
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'input.received',
        'step.started',
        'step.dispatched',
        'step.finished',
        'session.ended',
      ]),
    );
    expect(new Set(events.map(({ session }) => session))).toEqual(new Set([result?.session]));
  });

  it('goes on with a session: a second turn sees the first', async () => {
    using folder = project(
      '  - { when: { contains: first }, say: One. }\n  - { when: { contains: second }, say: "Two, after {{ $count(messages[role = \'user\']) }} questions." }\n',
    );
    await chassis(['run', 'first', '--trust', '-q'], { cwd: folder.path });
    const second = await chassis(['run', '--session', '@last', 'second', '-q'], { cwd: folder.path });
    expect(second).toMatchObject({ code: 0, stdout: 'Two, after 2 questions.\n', stderr: '' });
    const shown = await chassis(['show', '@last', '--json'], { cwd: folder.path });
    expect(records(shown.stdout).at(-1)?.session).toMatchObject({
      turns: [{ input: 'first' }, { input: 'second' }],
    });
  });

  it('plays a script that is given, without a word in the project', async () => {
    using folder = project(says('From the project.'));
    folder.write('other.yaml', `turns:\n${says('From the other script.')}`);
    const ran = await chassis(['run', 'x', '--script', 'other.yaml', '--trust', '-q'], { cwd: folder.path });
    expect(ran.stdout).toBe('From the other script.\n');
  });

  it("fails with 1 when a tool's error ends the run, whatever the tool's own code", async () => {
    using folder = project(calls('refuse', {}, 'never'), 'agent: { settings: { max_tool_errors: 1 } }\n');
    const ran = await chassis(['run', 'x', '--trust', '--json'], { cwd: folder.path });
    expect(ran.code).toBe(1);
    expect(records(ran.stdout).at(-1)).toMatchObject({
      type: 'result',
      ok: false,
      exit: 1,
      outcome: 'failed',
      failed_step: 2,
      error: { code: -32602, message: expect.stringContaining('that is no order number') as string },
    });
    const text = await chassis(['run', 'x', '--trust'], { cwd: folder.path });
    expect(text).toMatchObject({ code: 1, stdout: '' });
    expect(text.stderr).toMatch(/^chassis: step 2 \(tool refuse\) failed: .*that is no order number/m);
  });

  it('ends with 4 when a limit is reached, and says which', async () => {
    using folder = project('  - { call: [{ name: echo, arguments: {} }], repeat: true }\n');
    const ran = await chassis(['run', 'x', '--trust', '--max-steps', '3', '-q'], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toContain('limits.steps is reached: 3 of 3');
  });

  it('refuses what needs a person when there is none, and takes --approve for one', async () => {
    using folder = project(
      calls('echo', { a: 1 }, 'Done.'),
      'tools: { approval: { echo: ask } }\nagent: { settings: { max_tool_errors: 1 } }\n',
    );
    const refused = await chassis(['run', 'x', '--trust', '-q'], { cwd: folder.path });
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.stderr).toContain('there is nobody to ask');
    const allowed = await chassis(['run', 'x', '--approve', 'echo', '-q'], { cwd: folder.path });
    expect(allowed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    const unknown = await chassis(['run', 'x', '--approve', 'ehco', '-q'], { cwd: folder.path });
    expect(unknown).toMatchObject({
      code: 2,
      stderr: 'chassis: --approve ehco: there is no such tool; did you mean "echo"?\n',
    });
  });
});
