/**
 * Strict re-execution against its floor, side by side in one run. A cycle is one model call and one tool call with a 2 kB
 * result, made by the default agent; the floor is a bare loop that parses the lines of the same session.
 *
 * CPU time, not wall time; each figure is the best of several rounds that alternate with the floor, the ratio the median of
 * the pairs. 1,000 and 10,000 cycles, or those named: `node bench/replay/run.ts 100000`.
 */
import type { ModelRequest } from '@chassis/types';
import agentPlugin, { messageTokens } from '../../packages/agent/src/index.ts';
import { memoryStore, Secrets, type SessionView } from '../../packages/journal/src/index.ts';
import { replay, Session } from '../../packages/runtime/src/index.ts';
import { fakeRegistry, says } from '../../packages/runtime/test/support/fake-registry.ts';
import { newSession, surroundings } from '../../packages/runtime/test/support/sessions.ts';

type Agent = NonNullable<Parameters<typeof fakeRegistry>[0]['agent']>;

const agent: Agent = (input, ctx) => agentPlugin.agents.default(input, ctx as never);

const page = (from: number) => ({
  rows: Array.from({ length: 20 }, (_, k) => ({
    id: from * 20 + k,
    customer: `customer ${k}`,
    amount: k * 3.14,
    note: 'delivered in the morning, signed for',
  })),
});

/** Records a session of so many cycles; the agent compacts its conversation now and then, as in a real long run. */
async function record(cycles: number): Promise<{ lines: readonly string[]; view: SessionView }> {
  let asked = 0;
  const options = {
    agent,
    system: 'You read orders.',
    store: memoryStore(),
    tools: { orders: { run: ({ page: number }: { page?: number }) => page(number ?? 0) } },
    models: {
      p: ({ messages, tools }: ModelRequest) => {
        if (tools.length === 0) return says('Pages were read.');
        const number = asked++;
        const input = messages.reduce((sum, message) => sum + messageTokens(message), 0);
        const usage = { input, cached: 0, output: 20, reasoning: 0 };
        return number < cycles
          ? says(`Page ${number} next.`, [[`call_${number}`, 'orders', { page: number }]], { usage })
          : says('done', [], { usage });
      },
    },
    settings: { limits: { steps: 1_000_000 } },
  };
  const around = surroundings(options as never);
  const session = await Session.create(around, newSession(options as never));
  const result = await session.prompt('What is the average order value?');
  await session.close();
  if (result.outcome !== 'ok') throw new Error(`the recording failed: ${result.error?.message}`);
  const reader = await around.store.reader(session.id);
  return { lines: await Array.fromAsync(reader.lines()), view: await reader.view() };
}

async function cpu(work: () => unknown): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const sizes = process.argv.slice(2).map(Number);
console.log('cycles     replayed, cycles/s     bare parse, cycles/s     ratio');
for (const cycles of sizes.length > 0 ? sizes : [1_000, 10_000]) {
  const { lines, view } = await record(cycles);
  const registry = fakeRegistry({ agent });
  const pairs: { readonly ours: number; readonly floor: number }[] = [];
  for (let round = 0; round < Math.max(2, Math.min(20, 40_000 / cycles)); round++) {
    const floor = await cpu(() => {
      for (const line of lines) JSON.parse(line);
    });
    const ours = await cpu(async () => {
      const report = await replay(view, registry, new Secrets(), new AbortController().signal);
      if (!report.ok) throw new Error(report.divergence?.message);
    });
    pairs.push({ ours, floor });
  }
  const rate = (side: 'ours' | 'floor') =>
    Math.round(cycles / Math.min(...pairs.map((pair) => pair[side]))).toLocaleString('en');
  const ratios = pairs.map(({ ours, floor }) => ours / floor).sort((a, b) => a - b);
  console.log(
    `${String(cycles).padEnd(10)} ${rate('ours').padStart(18)} ${rate('floor').padStart(24)} ${(ratios[ratios.length >> 1] ?? 0).toFixed(1).padStart(9)}`,
  );
}
