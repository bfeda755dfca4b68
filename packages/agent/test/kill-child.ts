/**
 * A process that runs or resumes one session and is meant to be killed: `node kill-child.ts ROOT ID|new MODE`.
 * Mode `safe` has tools that may be repeated, `write` one that may not.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStore, Secrets } from '@chassis/journal';
import { Session } from '@chassis/runtime';
import type { InvokeContext } from '@chassis/sdk';
import type { Json, ModelRequest } from '@chassis/types';
import { type FakeTool, says } from '../../runtime/test/support/fake-registry.ts';
import { newSession, surroundings, type TestOptions } from '../../runtime/test/support/sessions.ts';
import plugin from '../src/index.ts';

const [root = '', id = '', mode = ''] = process.argv.slice(2);
const rounds = 5;
const pause = () => sleep(Math.random() * 6);

/** Appends its line: done twice, it would be there twice. */
const append: FakeTool = {
  effects: 'write',
  run: async ({ n }) => {
    await pause();
    appendFileSync(join(root, 'lines.txt'), `line ${n}\n`);
    await pause();
    return `appended ${n}`;
  },
};

const options: TestOptions = {
  agent: (input, ctx) => plugin.agents.default(input, ctx as InvokeContext),
  agentSettings: { max_tool_errors: 1000 },
  tools: {
    look: {
      effects: 'read',
      run: async ({ n }) => {
        await pause();
        return `saw ${n} ${'.'.repeat(3000)}`;
      },
    },
    put: {
      effects: 'write',
      idempotent: true,
      run: async ({ n }) => {
        await pause();
        writeFileSync(join(root, `put-${n}.txt`), String(n));
        return `put ${n}`;
      },
    },
    append,
  },
  models: {
    p: async (request: ModelRequest, ctx) => {
      const round = request.messages.filter((message) => message.role === 'assistant').length;
      for (const text of ['thinking ', 'about ', `round ${round}`]) {
        ctx.progress({ text });
        await pause();
      }
      if (round === rounds) {
        const results = request.messages
          .filter((message) => message.role === 'tool')
          .map((message) => message.content.slice(0, 40));
        return says(results.join(' | '));
      }
      const calls: [string, string, Json][] = [
        [`look-${round}`, 'look', { n: round }],
        [`put-${round}`, 'put', { n: round }],
      ];
      if (mode === 'write') calls.push([`append-${round}`, 'append', { n: round }]);
      return says('', calls);
    },
  },
};

const secrets = new Secrets();
const around = surroundings({
  ...options,
  secrets,
  store: fileStore({ root: join(root, '.chassis'), secrets }),
});
const session =
  id === 'new' ? await Session.create(around, newSession(options)) : await Session.open(around, id);
process.stdout.write(`${session.id}\n`);
const fresh = session.view.turns.length === 0;
const result = fresh ? await session.prompt('go') : await session.resume();
await session.close();
writeFileSync(join(root, 'answer.json'), JSON.stringify(result));
