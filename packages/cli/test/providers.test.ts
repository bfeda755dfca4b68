/** A provider that refuses: it must look like a failure to a script, whichever way the script looks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type FakeAnswer,
  type FakeProvider,
  startFakeProvider,
} from '../../../plugins/openai-compatible/test/fake-provider.ts';
import { chassis, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

const KEY = 'sk-test-4f9a0c2b7d1e8f6a5b3c';
let provider: FakeProvider;
let folder: Project;

beforeAll(async () => {
  provider = await startFakeProvider({ key: KEY });
  folder = project(
    says('never'),
    `  openai-compatible:\n    config: { models: { fake: { base_url: "${provider.url}", model: m, api_key_env: FAKE_KEY } } }\n  loud: { enabled: true }\nretry: { attempts: 2, base_ms: 1 }\n`,
  );
  // A plugin that prints to stdout meanwhile.
  folder.write(
    'plugins/loud/plugin.yaml',
    'name: loud\nversion: 1.0.0\ndescription: Prints.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: process\ncommand: [node, loud.mjs]\nprotocol: jsonrpc\ntools:\n  - { name: loud, description: Nothing., method: loud, input: { type: object }, effects: none }\n',
  );
  folder.write(
    'plugins/loud/loud.mjs',
    "setInterval(() => {}, 1000); console.log('noise on stdout'); process.stdin.on('end', () => process.exit(0)).resume();\n",
  );
});
afterAll(async () => {
  await provider.close();
  folder[Symbol.dispose]();
});

const run = (args: readonly string[], key = KEY) =>
  chassis(['run', 'x', '--model', 'fake', '--trust', '-q', ...args], {
    cwd: folder.path,
    env: { FAKE_KEY: key },
  });
/** As many as a run asks for before it gives up. */
const always = (answer: FakeAnswer): FakeAnswer[] => [answer, answer];

describe('when the provider refuses', () => {
  it.each<[string, readonly FakeAnswer[], string, RegExp, object]>([
    ['401', [], 'sk-wrong-key-0123456789', /fake answered 401: wrong key/, { name: 'Unauthorized' }],
    [
      '429',
      always({ status: 429, body: { error: { message: 'slow down' } }, headers: { 'retry-after': '0' } }),
      KEY,
      /slow down/,
      { name: 'RateLimited' },
    ],
    ['a dropped connection', always({ drop: true }), KEY, /fake at 127\.0\.0\.1/, { name: 'ModelError' }],
  ])(
    '%s: exit 3, stdout empty as text, a failed result as JSON',
    async (_name, answers, key, message, error) => {
      provider.play(...answers);
      const text = await run([], key);
      expect(text).toMatchObject({ code: 3, stdout: '' });
      expect(text.stderr).toMatch(message);

      provider.play(...answers);
      const json = await run(['--json'], key);
      const lines = records(json.stdout);
      expect(json.code).toBe(3);
      expect(lines.at(-1)).toMatchObject({ type: 'result', ok: false, exit: 3, outcome: 'failed', error });
      expect(lines.at(-1)).not.toHaveProperty('answer');
      expect(lines.filter((line) => line.ok === true)).toEqual([]);
      expect(text.stdout + text.stderr + json.stdout + json.stderr).not.toContain(key);
    },
  );

  it('an answer is on stdout, with the plugin that prints still printing', async () => {
    provider.play({ stream: { reasoning: 'Hm.', text: 'All is well.' } });
    expect(await run([])).toMatchObject({ code: 0, stdout: 'All is well.\n' });
  });

  it('no key: exit 3, nothing on stdout, and which variable is missing', async () => {
    const ended = await run([], '');
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toContain('FAKE_KEY');
  });
});
