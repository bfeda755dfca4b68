// A skill is shown by name, read when the model asks, on record like any call, and not needed by a replay.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memoryStore, Secrets } from '@chassis/journal';
import { openProject, replay, Session, startRegistry } from '@chassis/runtime';
import { expect, test } from 'vitest';
import { newSession } from '../../runtime/test/support/sessions.ts';

const files = {
  'chassis.yaml': `model: scripted
tools: { budget_tokens: 1 }
plugins: { scripted: { config: { script: ./script.yaml } } }
`,
  'script.yaml': `turns:
  - when: { turn: 1 }
    call: [{ name: skill, arguments: { name: refunds } }]
  - when: { turn: 2 }
    call: [{ name: skill, arguments: { name: refunds, file: limits.md } }]
  - when: { turn: 3 }
    say: "At most {{ results.skill[1].content }}."
`,
  'plugins/shop/plugin.yaml': 'name: shop\nversion: 1.0.0\ndescription: x\nskills: [./refunds]\n',
  'plugins/shop/refunds/SKILL.md':
    '---\nname: refunds\ndescription: Use when money goes back.\n---\nRead limits.md first.\n',
  'plugins/shop/refunds/limits.md': '50 euros',
};
const brought = ['packages/agent', 'plugins/scripted'].map((path) =>
  join(import.meta.dirname, '../../..', path),
);

test('a model reads a skill and a file of it, and the run replays without them', async () => {
  const root = mkdtempSync(join(tmpdir(), 'chassis-skills-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const registry = await startRegistry(
    await openProject({ cwd: root, home: root, env: {}, firstParty: brought }),
  );
  const session = await Session.create(
    { store: memoryStore(), registry, secrets: new Secrets(), secret: async () => '' },
    newSession({ model: 'scripted' }),
  );
  try {
    expect(await session.prompt('Give it back')).toEqual({
      turn: 1,
      outcome: 'ok',
      answer: 'At most 50 euros.',
    });
    const { view } = session;
    // However small the budget, what leads to the skills is shown.
    const [shown] = view.request(1).tools;
    expect(shown?.name).toBe('skill');
    expect(shown?.description).toContain('- refunds: Use when money goes back.');
    expect(JSON.stringify(view.request(1))).not.toContain('Read limits.md');
    const calls = view.steps.filter(({ kind }) => kind === 'tool');
    expect(calls.map(({ output }) => output)).toMatchObject([
      { content: 'Read limits.md first.', files: ['limits.md'], digest: expect.any(String) },
      { content: '50 euros' },
    ]);
    expect(view.header.plugins.find(({ name }) => name === 'shop')?.digest).toMatch(/^[0-9a-f]{64}$/);
    rmSync(join(root, 'plugins'), { recursive: true });
    await registry.unload('shop');
    expect(await replay(view, registry, new Secrets(), new AbortController().signal)).toMatchObject({
      ok: true,
    });
  } finally {
    await session.close();
    await registry.close();
    rmSync(root, { recursive: true, force: true });
  }
});
