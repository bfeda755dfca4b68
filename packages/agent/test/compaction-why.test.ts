/** What a real compaction does to the trail of a value: the summary stands between, and what it left out is named. */
import { lineage, why } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type { ModelRequest } from '@chassis/types';
import { expect, test } from 'vitest';
import { type FakeTool, says } from '../../runtime/test/support/fake-registry.ts';
import { openSession, type TestOptions } from '../../runtime/test/support/sessions.ts';
import plugin from '../src/index.ts';

const agent: NonNullable<TestOptions['agent']> = (input: AgentInput, ctx) =>
  plugin.agents.default(input, ctx as InvokeContext);

const filler = 'the quick brown fox jumps over the lazy dog; '.repeat(60);

/** The model looks up a booking, reads much else until the conversation is compacted, and cancels the booking. */
async function cancelAfter(summary: string, booking: string) {
  const look: FakeTool = { effects: 'read', run: () => ({ booking: 'BK-77120', guest: 'Kim' }) };
  const read: FakeTool = { effects: 'read', run: ({ page }) => ({ page, text: filler }) };
  const cancel: FakeTool = {
    effects: 'external',
    run: ({ booking: given }) => {
      if (given === 'BK-77120') return { cancelled: true };
      throw new ChassisError('InternalError', `booking "${given as string}" not found`);
    },
  };
  let asked = 0;
  let compacted = false;
  const model = (request: ModelRequest) => ({ ...answer(request), usage: null });
  const answer = ({ messages }: ModelRequest) => {
    if (messages.at(-1)?.content.startsWith('Summarise the conversation')) {
      compacted = true;
      return says(summary);
    }
    asked++;
    if (asked === 1) return says('', [['c1', 'look_up', { guest: 'Kim' }]]);
    if (!compacted) return says('', [[`c${asked}`, 'read', { page: asked }]]);
    if (messages.at(-1)?.role === 'tool' && messages.at(-1)?.content.includes('cancelled'))
      return says('Done.');
    return says('', [[`c${asked}`, 'cancel', { booking }]]);
  };
  const { session } = await openSession({
    agent,
    agentSettings: { max_tool_errors: 1, context_window: 4000, compact_at: 0.6, keep: 0.3 },
    tools: { look_up: look, read, cancel },
    models: { p: model },
    settings: { retry: { attempts: 1, base_ms: 1 } },
  });
  await session.prompt('Cancel the booking of Kim.');
  const { view } = session;
  await session.close();
  const summed = view.steps.find((step) => step.agent === 'main/compaction' && step.kind === 'model')?.number;
  const last = view.steps.find((step) => step.name === 'cancel')?.number;
  return { view, summed, last };
}

test('a value that went through a summary is traced through it to the result that it is from', async () => {
  const { view, summed, last } = await cancelAfter('The booking of Kim is BK-77120.', 'BK-77120');
  const found = lineage(view, { step: last ?? 0, pointer: '/input/booking' });
  expect(found?.links.map(({ to }) => to.step)).toContain(summed);
  expect(found?.birth).toMatchObject({ step: 2, pointer: '/output/booking' });
  expect(found?.origin).toBe('tool');
});

test('a value made up because a summary left it out is blamed on the summary', async () => {
  const { view, summed } = await cancelAfter('The booking of Kim was looked up.', 'BK-10000');
  const found = why(view);
  expect([found.cause?.step, found.cause?.rule]).toEqual([summed, 'lost-result']);
  expect(found.cause?.text).toContain('BK-77120');
});
