/** On a real terminal: what is asked, what is shown, and what a key does. */
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bin, chassis, records } from './support/chassis.ts';
import { calls, type Project, project } from './support/project.ts';

const driver = fileURLToPath(new URL('./support/terminal.py', import.meta.url));
const LEFT = '\u001b[D';
const ENTER = '\r';
const CTRL_C = '\u0003';

/** @param steps what must have appeared, and the keys that are pressed then */
async function onTerminal(folder: Project, args: readonly string[], steps: readonly [string, string][]) {
  const through = ['python3', driver, '100', JSON.stringify(steps), process.execPath, bin];
  const { stdout } = await chassis(args, { cwd: folder.path, through });
  return { raw: stdout, text: stripVTControlCharacters(stdout).replaceAll('\r', '') };
}
const asking = (): Project =>
  project(calls('echo', { text: 'a \u001b[2J b' }, 'Done.'), 'tools: { approval: { echo: ask } }\n');
const answered = async (folder: Project): Promise<unknown> => {
  const shown = await chassis(['show', '@last', '--json'], { cwd: folder.path });
  return records(shown.stdout).at(-1)?.session;
};

describe('a terminal', () => {
  it('asks for trust, then for an approval with the exact arguments, and shows the run as it happens', async () => {
    using folder = asking();
    const { raw, text } = await onTerminal(
      folder,
      ['run', 'x'],
      [
        ['Do you trust it', LEFT],
        ['Yes', ENTER],
        ['Allow exactly this call', LEFT],
        ['Allow', ENTER],
      ],
    );
    expect(text).toContain('plugin gate runs ./index.ts');
    expect(text).toContain('"text": "a \\u001b[2J b"');
    expect(text).toMatch(/Done\.\n.*✓ +3 model scripted/s);
    expect(text).toMatch(/\nexit 0\n$/);
    // The question's own cursor moves aside, what a tool is given never reaches the terminal as a command.
    expect(raw).not.toContain('a \u001b[2J b');
    expect(await answered(folder)).toMatchObject({ outcome: 'ok', steps: [{}, { status: 'ok' }, {}] });
    // Once trusted, it is not asked again.
    const again = await onTerminal(folder, ['plugin', 'ls'], []);
    expect(again.text).not.toContain('trust');
  });

  it('a plain Enter denies, and the model is told', async () => {
    using folder = asking();
    const { text } = await onTerminal(folder, ['run', 'x', '--trust'], [['Allow exactly this call', ENTER]]);
    expect(text).toContain('echo was not approved: denied at the terminal');
    expect(text).toMatch(/\nexit 0\n$/);
    expect(await answered(folder)).toMatchObject({ outcome: 'ok', steps: [{}, { status: 'denied' }, {}] });
  });

  it('Ctrl-C at a question cancels the run', async () => {
    using folder = asking();
    const { text } = await onTerminal(folder, ['run', 'x', '--trust'], [['Allow exactly this call', CTRL_C]]);
    expect(text).toMatch(/\nexit 130\n$/);
    expect(await answered(folder)).toMatchObject({ outcome: 'cancelled' });
  });
});
