// The conformance kit against plugins that keep the rules, and against plugins that break one each.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pluginScaffold, testPlugin } from '../src/index.ts';
import { inlineManifest, projectFolder } from '../src/testing/project-folder.ts';

const failed = (report: Awaited<ReturnType<typeof testPlugin>>) =>
  report.checks.filter((check) => !check.ok).map((check) => check.name);

test.each(['typescript', 'python'] as const)('a new plugin in %s conforms', async (kind) => {
  using folder = projectFolder({});
  await pluginScaffold({ kind, name: 'fresh', folder: join(folder.root, 'p') });
  const report = await testPlugin(join(folder.root, 'p'), { inputs: { fresh_count_words: { text: 'a b' } } });
  expect(report).toMatchObject({ plugin: 'fresh', ok: true });
  expect(report.checks.map((check) => check.name)).toContain(
    'fresh_count_words answers a Result that keeps its output schema',
  );
});

test('forty lines of shell conform, without any SDK', async () => {
  using folder = projectFolder({
    'p/plugin.yaml':
      'name: shell-plugin\nversion: 1.0.0\ndescription: A plugin in shell.\nruntime: process\ncommand: [sh, plugin.sh]\ntools:\n  - { name: hello, description: Says hello., effects: none, input: { type: object }, output: { type: string } }\n',
    'p/plugin.sh': `
# Answers one JSON-RPC message a line. The id is taken as text; the harness's ids are strings without quotes inside.
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p')
  case $line in
    *'"method":"plugin.invoke"'*'"tool":"hello"'*)
      printf '{"jsonrpc":"2.0","id":"%s","result":{"code":0,"data":"hello from sh","error":null}}\\n' "$id" ;;
    *'"method":"plugin.invoke"'*)
      printf '{"jsonrpc":"2.0","id":"%s","result":{"code":-32601,"data":null,"error":{"message":"no such tool"}}}\\n' "$id" ;;
    *'"method":"tool.cancel"'*) ;;
    *)
      printf '{"jsonrpc":"2.0","id":"%s","error":{"code":-32601,"message":"Method not found"}}\\n' "$id" ;;
  esac
done
`,
  });
  const report = await testPlugin(join(folder.root, 'p'));
  expect(report.checks.filter((check) => !check.ok)).toEqual([]);
  expect(report.checks.map((check) => check.name)).toContain(
    'hello answers a Result that keeps its output schema',
  );
});

test.each([
  ['a broken manifest', 'nonsense: 1\n', 'export default {};', 'the manifest and what it names are in order'],
  [
    'a load that fails',
    '',
    'export default { on_load() { throw new Error("x"); } };',
    'it loads and is ready in time',
  ],
  [
    'a tool without handler',
    '',
    'export default { tools: {} };',
    'it serves exactly what its manifest lists',
  ],
  [
    'an output that breaks its schema',
    '',
    'export default { tools: { t: () => "text" } };',
    't answers a Result that keeps its output schema',
  ],
])('%s is found', async (_what, more, code, check) => {
  using folder = projectFolder({
    'p/plugin.yaml': inlineManifest(
      'p',
      `${more}tools: [{ name: t, description: x, effects: none, input: { type: object }, output: { type: number } }]\n`,
    ),
    'p/index.mjs': code,
  });
  const report = await testPlugin(join(folder.root, 'p'));
  expect(report.ok).toBe(false);
  expect(failed(report)).toContain(check);
});

test('a plugin that prints to stdout, or breaks on an unknown tool, is found', async () => {
  using folder = projectFolder({
    'p/plugin.yaml':
      'name: p\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [node, index.mjs]\ntools: [{ name: t, description: x, effects: none }]\n',
    'p/index.mjs': `
import readline from 'node:readline';
console.log('starting');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'plugin.invoke' && params.tool !== 't') process.exit(5);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'plugin.invoke' ? { code: 0, data: 1 } : null }));
});`,
  });
  const report = await testPlugin(join(folder.root, 'p'));
  expect(failed(report)).toEqual(
    expect.arrayContaining(['a call of an unknown tool is refused', 'it is still well after all that']),
  );
});
