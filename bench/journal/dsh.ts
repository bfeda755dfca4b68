/** The same cycles in deepseek-harness's session log: the events that its own loop appends, without streamed chunks. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Installed in bench/peers, which is outside the workspaces: its types are not there for the checker.
// biome-ignore lint/suspicious/noExplicitAny: see above
const peer = async (name: string): Promise<Record<string, any>> =>
  import(
    pathToFileURL(join(import.meta.dirname, '../peers/node_modules/@deepseek-ai', name, 'lib/index.js')).href
  );

/**
 * @param root folder that the log goes to
 * @param flush makes every request durable before it leaves, as its checkpoint policy does
 */
export async function dsh(
  cycles: number,
  root: string,
  flush: boolean,
  page: (i: number) => unknown,
): Promise<void> {
  const { Context } = await peer('cordis');
  const { SessionStore } = await peer('dsh-session');
  const { JsonlSessionPersistence } = await peer('dsh-session-persistence-jsonl');
  const { createAssistantMessage, createToolResultMessage, createUserMessage } = await peer('dsh-llm');
  const ctx = new Context();
  await ctx.plugin(SessionStore);
  await ctx.plugin(JsonlSessionPersistence, { root });
  const session = ctx.sessions.create();
  const surface = { surfaceOp: 'append' };
  session.append('turn/start', { turn: 1 });
  const question = [{ type: 'text', text: 'What is the average order value?' }];
  session.append('user/message', createUserMessage({ content: question, source: { kind: 'user' } }), surface);
  for (let i = 0; i < cycles; i++) {
    const place = { turn: 1, step: i + 1 };
    const args = `{"page":${i}}`;
    session.append('step/start', place);
    if (flush) await ctx.sessions.flush(session);
    const message = createAssistantMessage({
      content: [
        { type: 'text', text: `Page ${i} next.` },
        { type: 'tool-call', callId: `call_${i}`, name: 'orders', arguments: args },
      ],
      source: { provider: 'scripted', model: 'scripted' },
    });
    session.append('assistant/message', { ...place, message }, surface);
    session.append('tool/call', { ...place, callId: `call_${i}`, name: 'orders', arguments: args });
    if (flush) await ctx.sessions.flush(session);
    const content = [{ type: 'text', text: JSON.stringify(page(i)) }];
    const result = createToolResultMessage({ callId: `call_${i}`, content, isError: false });
    session.append('tool/result', { ...place, message: result }, surface);
    session.append('step/end', place);
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await ctx.sessions.flush(session);
}
