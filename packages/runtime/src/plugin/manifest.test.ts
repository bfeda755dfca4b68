import { issuesOf, issueText } from '@chassis/schema';
import { describe, expect, test } from 'vitest';
import { parseManifest } from './manifest.ts';

const head = 'name: orders\nversion: 1.2.0\ndescription: Reads orders.\n';
const inline = `${head}runtime: inline\nmodule: ./index.ts\n`;

function problems(text: string): string[] {
  try {
    parseManifest(text, 'plugin.yaml');
  } catch (error) {
    return issuesOf(error).map(issueText);
  }
  return [];
}

describe('a manifest', () => {
  test('comes out complete', () => {
    const { manifest } = parseManifest(
      `${head}runtime: process\ncommand: [python3, orders.py]\ntools:\n  - { name: fetch, description: Fetches., effects: read }\n  - { name: send, description: Sends. }\n`,
      'plugin.yaml',
    );
    expect(manifest).toMatchObject({
      kind: 'tool',
      chassis: '*',
      protocol: 'chassis',
      criticality: 'optional',
      deadlines: { on_load_ms: 10_000, on_ready_ms: 5_000, on_shutdown_ms: 5_000 },
      permissions: { fs: { read: [], write: [] }, net: [], env: [], exec: [], methods: [] },
    });
    expect(manifest.tools).toEqual([
      {
        name: 'fetch',
        description: 'Fetches.',
        input: { type: 'object' },
        effects: 'read',
        idempotent: false,
        approval: 'auto',
        timeout_ms: 60_000,
      },
      {
        name: 'send',
        description: 'Sends.',
        input: { type: 'object' },
        effects: 'external',
        idempotent: false,
        approval: 'ask',
        timeout_ms: 60_000,
      },
    ]);
  });

  test('lists models by name or with a description, and where the configuration adds more', () => {
    const { manifest } = parseManifest(
      `${inline}kind: model\nmodels: [deepseek, { name: gpt-5.2, description: Big. }]\nmodels_from_config: endpoints\n`,
      'plugin.yaml',
    );
    expect(manifest.models).toEqual([
      { name: 'deepseek', description: '' },
      { name: 'gpt-5.2', description: 'Big.' },
    ]);
    expect(manifest.models_from_config).toBe('endpoints');
  });

  test('remembers where its dependencies were written', () => {
    const { manifest } = parseManifest(
      `${inline}depends_on:\n  - { name: database, version: ^1.0.0 }\n`,
      'plugin.yaml',
    );
    expect(manifest.depends_on).toEqual([
      { on: 'plugin', name: 'database', version: '^1.0.0', optional: false, at: 'plugin.yaml:7:5' },
    ]);
  });
});

test('a dependency is a plugin or a capability, and says so when it is neither or both', () => {
  const { manifest } = parseManifest(
    `${inline}depends_on:\n  - { capability: model }\n  - { capability: tool.fetch_orders, version: ^2, optional: true }\n`,
    'plugin.yaml',
  );
  expect(manifest.depends_on).toEqual([
    { on: 'capability', name: 'model', version: '*', optional: false, at: 'plugin.yaml:7:5' },
    { on: 'capability', name: 'tool.fetch_orders', version: '^2', optional: true, at: 'plugin.yaml:8:5' },
  ]);
  const refused = (edge: string) => () => parseManifest(`${inline}depends_on: [${edge}]\n`, 'plugin.yaml');
  expect(refused('{ version: ^1 }')).toThrow(
    'plugin.yaml:6:14: "name" is missing: give the name of a plugin, or a capability such as model or tool.fetch_orders',
  );
  expect(refused('{ name: a, capability: model }')).toThrow('has a name or a capability, not both');
  expect(refused('{ capability: tool }')).toThrow('expected a capability: tool.NAME');
});

describe('a broken manifest is refused with the place and the nearest right thing', () => {
  test.each([
    [`${inline}timeuot: 5`, 'plugin.yaml:6:1: unknown key "timeuot"; expected one of'],
    [
      `${inline}criticallity: guard`,
      'plugin.yaml:6:1: unknown key "criticallity"; did you mean "criticality"?',
    ],
    [`${inline}tools: [{ name: a b, description: x }]`, 'plugin.yaml:6:17: expected a tool name'],
    [`${inline}tools: [{ name: list, description: x }]`, 'plugin.yaml:6:17: "list" is reserved'],
    [`${inline}tools:\n  - { name: a, description: x, timeuot_ms: 5 }`, 'did you mean "timeout_ms"?'],
    [
      `${inline}tools: [{ name: a, description: x }, { name: a, description: y }]`,
      '"a" is listed twice under tools',
    ],
    [`${inline}tools: [{ name: a, description: x, effects: reed }]`, 'did you mean "read"?'],
    [`${inline}tools: [{ name: a, description: x, input: { type: array } }]`, 'write type: object'],
    [`${inline}tools: [{ name: a, description: x, method: m }]`, '"method" is only for protocol: jsonrpc'],
    [`${inline}permissions: { env: [NODE_OPTIONS] }`, 'NODE_OPTIONS can make a program load other code'],
    [`${inline}permissions: { fs: { read: ./data } }`, 'plugin.yaml:6:28: expected a list, found a string'],
    [`${inline}depends_on: [{ name: orders }]`, 'a plugin cannot depend on itself'],
    [`${inline}depends_on: [{ name: a, version: one }]`, '"one" is no version range'],
    [`${inline}chassis: next`, '"next" is no version range'],
    [`${inline}command: [node]`, 'plugin.yaml:6:1: "command" is not for runtime: inline; expected module'],
    [`${head}runtime: process`, '"command" is missing; runtime: process needs command'],
    [
      `${head}runtime: process\ncommand: python3 orders.py`,
      'expected a list, found a string ("python3 orders.py")',
    ],
    [`${head}runtime: inline\nmodule: ../other.ts`, "leads out of the plugin's folder"],
    [inline.replace('1.2.0', '1.2'), 'plugin.yaml:2:10: expected a string, found a number (1.2)'],
    [inline.replace('1.2.0', 'one'), 'plugin.yaml:2:10: "one" is no semantic version'],
    [inline.replace('orders', 'My_Orders'), 'expected a plugin name: a-z, 0-9 and single hyphens'],
    [inline.replace('orders', 'paths'), 'the name "paths" is reserved'],
    [inline.replace('inline', 'inlin'), 'did you mean "inline"?'],
    ['', '"name" is missing'],
  ])('%j', (text, expected) => {
    expect(problems(text).join('\n')).toContain(expected);
  });
});
