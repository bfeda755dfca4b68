/** The official MCP servers `everything`, `filesystem` and `memory` as plugins: run, recorded, replayed without them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { type Project, project } from './support/project.ts';

const programs = fileURLToPath(new URL('../../../node_modules/.bin/', import.meta.url));

const call = (name: string, args: object) => `{ name: ${name}, arguments: ${JSON.stringify(args)} }`;

const server = (name: string, words: readonly string[], more = '') =>
  `name: ${name}\nversion: 1.0.0\ndescription: An official server.\nruntime: mcp\ncommand: ${JSON.stringify(words)}\ndeadlines: { on_load_ms: 60000 }\n${more}`;

interface Shown {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
}

let folder: Project;
const run = (...args: string[]) => chassis(args, { cwd: folder.path });

beforeAll(async () => {
  folder = project('');
  const note = join(folder.path, 'note.txt');
  const entity = { name: 'Ada', entityType: 'person', observations: ['wrote the first program'] };
  folder.write(
    'script.yaml',
    `turns:
  - call:
      - ${call('get-sum', { a: 2, b: 3 })}
      - ${call('get-tiny-image', {})}
      - ${call('get-structured-content', { location: 'Chicago' })}
      - ${call('write_file', { path: note, content: 'kept' })}
      - ${call('create_entities', { entities: [entity] })}
  - call:
      - ${call('read_text_file', { path: note })}
      - ${call('read_text_file', { path: '/etc/hostname' })}
      - ${call('search_nodes', { query: 'program' })}
  - { say: "All of it is done." }
`,
  );
  const program = (name: string): string => join(programs, `mcp-server-${name}`);
  folder.write('plugins/everything/plugin.yaml', server('everything', ['node', program('everything')]));
  folder.write(
    'plugins/filesystem/plugin.yaml',
    server(
      'filesystem',
      ['node', program('filesystem'), folder.path],
      'tools: [{ name: write_file, description: x, effects: write, approval: auto }]\n',
    ),
  );
  folder.write(
    'plugins/graph/plugin.yaml',
    server(
      'graph',
      ['node', program('memory')],
      'tools: [{ name: create_entities, description: x, effects: write, approval: auto }]\n',
    ),
  );
  folder.write(
    'chassis.yaml',
    `${readFileSync(join(folder.path, 'chassis.yaml'), 'utf8')}  graph: { env: { MEMORY_FILE_PATH: ${join(folder.path, 'memory.jsonl')} } }
  files: { enabled: false }
tools: { approval: { get-sum: auto, get-tiny-image: auto, get-structured-content: auto } }\n`,
  );
});
afterAll(() => folder[Symbol.dispose]());

it('their tools work in a run, and what they answer is on record', async () => {
  const ended = await run('run', 'Go', '--trust', '-q');
  expect(ended).toMatchObject({ code: 0, stdout: 'All of it is done.\n' });
  expect(readFileSync(join(folder.path, 'note.txt'), 'utf8')).toBe('kept');
  const [shown = {}] = records((await run('show', '@last', '--json')).stdout);
  const { steps } = shown.session as { steps: Shown[] };
  expect(steps.filter(({ kind }) => kind === 'tool').map(({ name, status }) => `${name} ${status}`)).toEqual([
    'get-sum ok',
    'get-tiny-image ok',
    'get-structured-content ok',
    'write_file ok',
    'create_entities ok',
    'read_text_file ok',
    'read_text_file error',
    'search_nodes ok',
  ]);
  const value = async (address: string) => {
    const [told] = records((await run('show', `@last:${address}`, '--json')).stdout);
    return told?.value;
  };
  const { text, $content } = (await value('3#/output')) as { text: string; $content: { type: string }[] };
  expect(text).toMatch(/\[image image\/png, \d+ bytes\]/);
  expect($content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  expect(await value('4#/output')).toMatchObject({ temperature: 36 });
  expect(await value('8#/output')).toEqual({ content: 'kept' });
  expect(await value('9#/error/message')).toContain('Access denied');
  expect(await value('10#/output/entities/0/name')).toBe('Ada');
});

it('replays when not one of them is there any more', async () => {
  for (const name of ['everything', 'filesystem', 'graph']) {
    folder.write(`plugins/${name}/plugin.yaml`, server(name, ['no-such-program']));
  }
  const ended = await run('replay', '@last');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('on record: 3 model calls, 8 tool calls');
});
