/** A call that asks a model of its own: values are followed into it and out of it, and its failure is found where it began. */
import { context, lineage, why } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type { ModelRequest } from '@chassis/types';
import { expect, test } from 'vitest';
import { type FakeTool, says } from '../../runtime/test/support/fake-registry.ts';
import { openSession, type TestOptions } from '../../runtime/test/support/sessions.ts';
import plugin from '../src/index.ts';

const agent: NonNullable<TestOptions['agent']> = (input: AgentInput, ctx) =>
  plugin.agents.default(input, ctx as InvokeContext);

/** The main agent delegates a question; who is asked answers with a code, or calls a tool that fails. */
async function delegating(fails: boolean) {
  const lookUp: FakeTool = {
    effects: 'read',
    run: ({ code }) => {
      throw new ChassisError('InternalError', `there is no ward "${code as string}"`);
    },
  };
  const delegate: FakeTool = {
    effects: 'read',
    run: async ({ question }, ctx) => {
      const asked = (await ctx.call('model.generate', {
        messages: [{ role: 'user', content: `As a clerk, answer: ${question as string}` }],
        tools: [],
      })) as { response?: { message: { content: string } } };
      const answer = asked.response?.message.content ?? '';
      if (!fails) return { answer };
      const called = (await ctx.call('tool.call', { name: 'look_up', arguments: { code: answer } })) as {
        error?: { message: string };
      };
      throw new ChassisError('InternalError', `the clerk gave up: ${called.error?.message ?? ''}`);
    },
  };
  const book: FakeTool = {
    effects: 'external',
    run: ({ ward }) => {
      throw new ChassisError('InternalError', `ward "${ward as string}" not found`);
    },
  };
  const model = ({ messages }: ModelRequest) => {
    if (messages[0]?.content.startsWith('As a clerk')) return says('WARD-7731');
    if (messages.at(-1)?.role !== 'tool')
      return says('', [['c1', 'delegate', { question: 'which ward for Kim?' }]]);
    return says('', [['c2', 'book', { ward: 'WARD-7731' }]]);
  };
  const { session } = await openSession({
    agent,
    agentSettings: { max_tool_errors: 1 },
    tools: { delegate, look_up: lookUp, book },
    models: { p: model },
    settings: { retry: { attempts: 1, base_ms: 1 } },
  });
  await session.prompt('Book a ward for Kim.');
  const { view } = session;
  await session.close();
  const numberOf = (name: string): number => view.steps.find((step) => step.name === name)?.number ?? 0;
  const inner = view.steps.find((step) => step.kind === 'model' && step.parent !== null)?.number ?? 0;
  return { view, numberOf, inner };
}

test('a value that an inner model brought in is followed into the call that it ran in', async () => {
  const { view, numberOf, inner } = await delegating(false);
  const found = lineage(view, { step: numberOf('book'), pointer: '/input/ward' });
  expect(found?.links.map(({ to }) => to.step)).toContain(numberOf('delegate'));
  expect(found?.birth).toMatchObject({ step: inner, pointer: '/output/message/content' });
  expect(why(view).cause).toMatchObject({ step: inner, rule: 'born-in-model' });
});

test('what an inner model was asked comes from the arguments of the call', async () => {
  const { view, numberOf, inner } = await delegating(false);
  const content = view.request(inner).messages[0]?.content ?? '';
  const from = content.indexOf('which ward');
  const asked = lineage(view, {
    step: inner,
    pointer: '/input/messages/0/content',
    range: [from, content.length],
  });
  expect(asked?.links[0]?.to).toMatchObject({ step: numberOf('delegate'), pointer: '/input/question' });
  expect(context(view, inner).blocks).toHaveLength(1);
});

test('a failure that a call passes on is explained from the step inside it', async () => {
  const { view, numberOf, inner } = await delegating(true);
  const found = why(view);
  expect(found.symptom).toMatchObject({ step: numberOf('look_up'), inside: numberOf('delegate') });
  expect(found.cause).toMatchObject({ step: inner, rule: 'born-in-model' });
});
