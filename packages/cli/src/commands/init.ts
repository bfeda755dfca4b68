/** `chassis init`: a project that runs at once, offline. Nothing that is there is overwritten. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { pluginScaffold, trust } from '@chassis/runtime';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';

/** Name of the first plugin; its tool is named after it. */
const PLUGIN = 'text';
const TOOL = 'text_count_words';

const CONFIG = `# Everything that can stand here: chassis config show --origin
model: scripted # plays script.yaml, offline; with DEEPSEEK_API_KEY set: "model: deepseek"

agent:
  system: You answer with the help of your tools.

plugins:
  scripted:
    config:
      script: ./script.yaml
`;

const SCRIPT = `# What the scripted model says: the first turn whose conditions hold plays. It is no language model.
turns:
  - when: { tool: ${TOOL}, result_path: /words }
    say: "Your message has {{ results.${TOOL}[-1].words }} words."
    repeat: true

  - when: { tool: ${TOOL} }
    say: The tool failed, so I cannot tell. Look at it with chassis why @last.
    repeat: true

  - think: The tool counts better than I do.
    call:
      - name: ${TOOL}
        arguments: { text: "{{ messages[role = 'user'][-1].content }}" }
    repeat: true
`;

export async function init({
  args: [folder = '.'],
  options,
  globals,
  out,
}: Call<{ python?: true }>): Promise<Ending> {
  const root = resolve(globals.cwd, folder);
  const files = { 'chassis.yaml': CONFIG, 'script.yaml': SCRIPT };
  const plugin = join(root, 'plugins', PLUGIN);
  for (const path of [...Object.keys(files).map((name) => join(root, name)), plugin])
    if (existsSync(path)) throw new ChassisError('Conflict', `${path} is there already: nothing was written`);

  const bringsPlugins = existsSync(join(root, 'plugins'));
  await mkdir(root, { recursive: true });
  const written: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(root, name), text, { flag: 'wx' });
    written.push(name);
  }
  const kind = options.python === true ? 'python' : 'typescript';
  const scaffold = await pluginScaffold({ kind, name: PLUGIN, folder: plugin });
  written.push(...scaffold.map((path) => relative(root, path)));
  if (await ignore(root)) written.push('.gitignore');
  // Whoever makes a project and goes on writing its plugins need not be asked about them; plugins that were there before
  // are somebody else's until a person has said otherwise.
  if (!bringsPlugins) await trust(await projectOf({ ...globals, cwd: root }), { changes: true });

  for (const name of written) out.line(`wrote ${visible(join(folder, name))}`);
  const next = [
    ...(folder === '.' ? [] : [`cd ${visible(folder)}`]),
    'chassis run "How many words are in this sentence?"',
    'chassis show @last',
    'chassis plugin new NAME',
  ].slice(0, 3);
  out.line('next:');
  for (const command of next) out.line(`  ${command}`);
  return { result: { root, written, next } };
}

/** Sessions hold everything that an agent saw: git leaves them alone. */
async function ignore(root: string): Promise<boolean> {
  const file = join(root, '.gitignore');
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.split(/\r?\n/).some((line) => /^\/?\.chassis\/?$/.test(line.trim()))) return false;
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}.chassis/\n`);
  return true;
}
