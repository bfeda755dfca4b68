// A catalogue that is too long for a request: the model searches, calls what it found, and a replay needs none of the plugins.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memoryStore, Secrets } from '@chassis/journal';
import { openProject, replay, Session, startRegistry } from '@chassis/runtime';
import { expect, test } from 'vitest';
import { newSession } from '../../runtime/test/support/sessions.ts';

const tools = Array.from(
  { length: 300 },
  (_, k) => `  - { name: op_${k}, description: Does operation ${k}, effects: none }`,
);
const files = {
  'chassis.yaml': `model: scripted
tools: { budget_tokens: 1000 }
plugins: { scripted: { config: { script: ./script.yaml } } }
`,
  'script.yaml': `turns:
  - when: { contains: first }
    call: [{ name: tool_search, arguments: { query: operation 217, limit: 2 } }]
  - when: { tool: tool_search }
    call: [{ name: op_217, arguments: {} }]
  - when: { tool: op_217 }
    say: done
    repeat: true
  - when: { contains: second }
    say: again
`,
  'plugins/many/plugin.yaml': `name: many\nversion: 1.0.0\ndescription: x\nruntime: inline\nmodule: ./index.mjs\ntools:\n${tools.join('\n')}\n`,
  'plugins/many/index.mjs': `export default { tools: Object.fromEntries(Array.from({ length: 300 }, (_, k) => ['op_' + k, () => k])) };`,
};
const brought = ['packages/agent', 'plugins/scripted'].map((path) =>
  join(import.meta.dirname, '../../..', path),
);

test('tools beyond the budget are found by search, callable at once and in later turns, and on record', async () => {
  const root = mkdtempSync(join(tmpdir(), 'chassis-search-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const registry = await startRegistry(
    await openProject({ cwd: root, home: root, env: {}, firstParty: brought }),
  );
  const session = await Session.create(
    { store: memoryStore(), registry, secrets: new Secrets(), secret: async () => '' },
    newSession({ model: 'scripted', settings: { tools: { budget_tokens: 1000 } } }),
  );
  try {
    expect(await session.prompt('first')).toEqual({ turn: 1, outcome: 'ok', answer: 'done' });
    expect(await session.prompt('second')).toMatchObject({ outcome: 'ok' });
    const { view } = session;
    const shown = view.steps
      .filter(({ kind }) => kind === 'model')
      .map(({ number }) => view.request(number).tools.map(({ name }) => name));
    expect(shown[0]).toEqual(['tool_search']);
    expect(shown[1]?.[0]).toBe('tool_search');
    expect(shown[1]).toContain('op_217');
    expect(shown[1]).toHaveLength(3);
    expect(shown.at(-1)).toContain('op_217');
    expect(view.turns[0]?.tools?.[0]?.description).toContain('many (300)');
    await registry.unload('many');
    expect(await replay(view, registry, new Secrets(), new AbortController().signal)).toMatchObject({
      ok: true,
    });
  } finally {
    await session.close();
    await registry.close();
    rmSync(root, { recursive: true, force: true });
  }
});
