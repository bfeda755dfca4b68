/** A reader that goes away. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bin, chassis, records, start } from './support/chassis.ts';
import { calls, project } from './support/project.ts';

/** Prints the status of each part of the pipe behind what came through it. */
const pipe = (args: string): readonly string[] => [
  'bash',
  '-c',
  `"${process.execPath}" "${bin}" ${args} | head -n 1; echo "\${PIPESTATUS[@]}"`,
];

describe('when the reader closes the pipe', () => {
  it('a long log ends quietly with 0 after the first line, as text and as JSON', async () => {
    // Each piece of the answer is an event of its own in the log or at least a line on the wire: thousands of lines.
    using folder = project(
      '  - { call: [{ name: echo, arguments: { text: "{{ $join([1..400].(\'line\')) }}" } }], repeat: true }\n',
      'limits: { steps: 199 }\n',
    );
    await chassis(['run', 'x', '--trust', '-q'], { cwd: folder.path });
    for (const args of ['log @last', 'log @last --json', 'log @last --raw', 'show @last', 'ls --json']) {
      const ended = await chassis([], { cwd: folder.path, through: pipe(args) });
      const lines = ended.stdout.trimEnd().split('\n');
      expect(lines, args).toHaveLength(2);
      expect(lines[1], args).toBe('0 0');
      // On a slow machine it may say that it is at work; nothing else.
      expect(ended.stderr.replaceAll(/^reading .*…\n/gm, ''), args).toBe('');
    }
  });

  it('a run goes on, and its record is complete', async () => {
    using folder = project(calls('wait', {}, 'Done.'));
    const running = start(['run', 'x', '--json', '--trust'], { cwd: folder.path });
    await running.seen(/"step\.dispatched".*"step":2|"step":2.*"step\.dispatched"/);
    running.child.stdout?.destroy();
    folder.write('go', '');
    const ended = await running.ended;
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toMatch(/EPIPE|\n {4}at /);
    const verified = await chassis(['verify', '@last', '--json'], { cwd: folder.path });
    expect(records(verified.stdout).at(-1)).toMatchObject({ ok: true, problems: [] });
    const shown = await chassis(['show', '@last', '--json'], { cwd: folder.path });
    expect(records(shown.stdout).at(-1)?.session).toMatchObject({
      outcome: 'ok',
      turns: [{ answer: 'Done.' }],
    });
  });

  it('another failure of stdout is told', async () => {
    if (!existsSync('/dev/full')) return;
    using folder = project(calls('echo', {}, 'Done.'));
    const ended = await chassis([], {
      cwd: folder.path,
      through: ['bash', '-c', `"${process.execPath}" "${bin}" version > /dev/full`],
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('cannot write to stdout: ');
  });
});
