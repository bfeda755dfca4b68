// Plugins of kind policy, in this process and in Python: what they say about calls, what is on record of it, and that
// a guard which is down closes the tools and nothing else.
import { ErrorCode } from '@chassis/errors';
import { memoryStore, Secrets } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { isUnavailable, replay, Session, startRegistry } from '../src/index.ts';
import { inlineManifest, projectFolder } from '../src/testing/project-folder.ts';
import { newSession } from './support/sessions.ts';

const TOOLS = `
export default { tools: { read_it: () => 'read', drop_it: ({ what }) => 'dropped ' + what } };
`;
const AGENT = `
export default { agents: { default: async (input, ctx) => {
  const calls = JSON.parse(input.content);
  const outcomes = [];
  for (const [name, args] of calls) outcomes.push(await ctx.call('tool.call', { name, arguments: args }));
  return { answer: JSON.stringify(outcomes) };
} } };
`;
const base = {
  'plugins/tools/plugin.yaml': inlineManifest(
    'tools',
    'tools:\n  - { name: read_it, description: Reads., effects: read }\n  - { name: drop_it, description: Drops., effects: external }\n',
  ),
  'plugins/tools/index.mjs': TOOLS,
  'plugins/loop/plugin.yaml': inlineManifest('loop', 'agents: [default]\n'),
  'plugins/loop/index.mjs': AGENT,
};

const policy = (source: string, manifest = 'policies: [keeper]\n') => ({
  'plugins/keep/plugin.yaml': inlineManifest('keep', `kind: policy\n${manifest}`),
  'plugins/keep/index.mjs': `export default { policies: { keeper: ${source} } };`,
});

interface Asked {
  readonly status: string;
  readonly output?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

/** Runs one turn that makes the given calls; a person who is asked says yes. */
async function run(
  files: Readonly<Record<string, string>>,
  calls: readonly (readonly [string, JsonObject])[],
  approval: Record<string, 'auto' | 'ask' | 'never'> = {},
) {
  using folder = projectFolder({ ...base, ...files });
  const registry = await startRegistry(await folder.open());
  const questions: string[] = [];
  try {
    const session = await Session.create(
      {
        store: memoryStore(),
        registry,
        secrets: new Secrets(),
        secret: async () => '',
        approver: {
          ask: async ({ reason }) => {
            questions.push(reason);
            return { decision: 'allow', by: 'test' };
          },
        },
      },
      newSession({ settings: { approval } }),
    );
    const result = await session.prompt(JSON.stringify(calls));
    const report = await replay(session.view, registry, new Secrets(), new AbortController().signal);
    const { view } = session;
    await session.close();
    return {
      outcomes: JSON.parse(result.answer ?? '[]') as Asked[],
      questions,
      approvals: view.approvals,
      replayed: report.ok,
      problems: registry.problems(),
    };
  } finally {
    await registry.close();
  }
}

const byWhat = `({ tool, arguments: args }) =>
  tool !== 'drop_it' ? undefined :
  args.what === 'tables' ? { decision: 'deny', reason: 'tables are dear' } :
  args.what === 'dust' ? 'allow' : { decision: 'ask', reason: 'who knows' }`;

describe('a policy', () => {
  test('allows, asks and denies by the arguments; each word is on record, and a replay needs no policy', async () => {
    const { outcomes, questions, approvals, replayed } = await run(policy(byWhat), [
      ['read_it', {}],
      ['drop_it', { what: 'dust' }],
      ['drop_it', { what: 'chairs' }],
      ['drop_it', { what: 'tables' }],
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'denied']);
    expect(outcomes[3]?.error).toMatchObject({
      code: ErrorCode.PermissionDenied,
      message: 'the policy keep.keeper does not allow this call of drop_it: tables are dear',
      data: { by: 'policy keep.keeper' },
    });
    // Its yes spares the question that the tool itself would ask; its "ask" comes with its reason.
    expect(questions).toEqual(['keep.keeper asks: who knows']);
    expect(approvals).toMatchObject([
      { step: 2, resolved: { decision: 'allow', by: 'policy keep.keeper' } },
      { step: 3, resolved: { decision: 'allow', by: 'test' } },
      { step: 4, resolved: { decision: 'deny', by: 'policy keep.keeper', reason: 'tables are dear' } },
    ]);
    expect(replayed).toBe(true);
  });

  test('cannot spare a question that the project wants, and cannot allow what the project forbids', async () => {
    const { outcomes, questions } = await run(
      policy(`() => 'allow'`),
      [
        ['drop_it', { what: 'x' }],
        ['read_it', {}],
      ],
      { drop_it: 'ask', read_it: 'never' },
    );
    expect(questions).toEqual(['drop_it asks before it runs']);
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'denied']);
  });

  test('is asked about the tools that its manifest names, and about no other', async () => {
    const { outcomes } = await run(
      policy(`() => 'deny'`, 'policies: [{ name: keeper, tools: ["plugin.tools.drop*"] }]\n'),
      [
        ['read_it', {}],
        ['drop_it', { what: 'x' }],
      ],
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'denied']);
  });

  test.each([
    ['throws', `() => { throw new Error('no luck'); }`, 'no luck'],
    ['hangs', '() => new Promise(() => {})', 'no answer within 50 ms'],
    ['answers nonsense', `() => ({ decision: 'maybe' })`, 'it answered "maybe"'],
  ])('that %s is no yes: a guard refuses, another one asks a person', async (_, source, message) => {
    const hasty = 'policies: [{ name: keeper, timeout_ms: 50 }]\n';
    const guarded = await run(policy(source, hasty), [['read_it', {}]]);
    expect(guarded.outcomes[0]).toMatchObject({
      status: 'denied',
      error: { message: expect.stringContaining(message) as string },
    });
    const optional = await run(policy(source, `${hasty}criticality: optional\n`), [['read_it', {}]]);
    expect(optional.outcomes[0]).toMatchObject({ status: 'ok' });
    expect(optional.questions).toEqual([expect.stringContaining(message)]);
  });

  test('may call tools itself: those calls are on record, and are not asked of policies again', async () => {
    const { outcomes, replayed } = await run(
      policy(
        `async ({ tool }, ctx) => {
          const text = await ctx.call('tool.read_it', {});
          return { decision: 'deny', reason: tool + ' after ' + text };
        }`,
        'policies: [keeper]\npermissions: { methods: ["tool.read_it"] }\n',
      ),
      [['drop_it', { what: 'x' }]],
    );
    expect(outcomes[0]?.error?.message).toContain('drop_it after read');
    expect(replayed).toBe(true);
  });

  test('in Python says the same', async () => {
    const { outcomes, questions } = await run(
      {
        'plugins/keep/plugin.yaml':
          'name: keep\nversion: 1.0.0\ndescription: x\nkind: policy\nruntime: process\ncommand: [python3, main.py]\npolicies: [keeper]\n',
        'plugins/keep/main.py': `from chassis_sdk import Plugin
plugin = Plugin()

@plugin.policy
def keeper(question, ctx):
    if question["effects"] == "read":
        return None
    return {"decision": "ask" if question["arguments"]["what"] == "a" else "deny", "reason": "by hand"}

plugin.run()
`,
      },
      [
        ['read_it', {}],
        ['drop_it', { what: 'a' }],
        ['drop_it', { what: 'b' }],
      ],
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['ok', 'ok', 'denied']);
    expect(questions).toEqual(['keep.keeper asks: by hand']);
  });
});

describe('a guard that is down', () => {
  test('closes every tool with its own cause, while the rest of the runtime stays up', async () => {
    using folder = projectFolder({
      ...base,
      ...policy('() => null'),
      'plugins/keep/index.mjs': `throw new Error('rules are missing');`,
    });
    const registry = await startRegistry(await folder.open());
    const tool = registry.resolveTool('read_it');
    expect(isUnavailable(tool) && tool.cause.message).toMatch(
      /no tool may run while the guard keep is down: .*rules are missing/,
    );
    expect(registry.tools()).toEqual([]);
    expect(isUnavailable(registry.resolveAgent('default'))).toBe(false);
    expect(registry.plugins().find(({ name }) => name === 'keep')).toMatchObject({ criticality: 'guard' });
    await registry.close();
  });

  test('is one without having said so, also when its manifest is broken', async () => {
    using folder = projectFolder({
      ...base,
      'plugins/keep/plugin.yaml': inlineManifest('keep', 'policies: [keeper]\nmodul: x\n'),
    });
    const registry = await startRegistry(await folder.open());
    expect(isUnavailable(registry.resolveTool('read_it'))).toBe(true);
    await registry.close();
  });

  test('whose code does not serve the policy that its manifest lists does not pass for one that is up', async () => {
    using folder = projectFolder({
      ...base,
      ...policy('() => null'),
      'plugins/keep/index.mjs': 'export default {};',
    });
    const registry = await startRegistry(await folder.open());
    expect(isUnavailable(registry.resolveTool('read_it'))).toBe(true);
    await registry.close();
  });
});
