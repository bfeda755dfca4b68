/** The same cycles through LangGraph JS: an agent node that asks a scripted model, a tool node that answers with a page. */
import { createRequire } from 'node:module';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

/** How the state is kept: all of it at every step, or what is new with a whole state now and then. */
export type Channel = 'full' | 'delta';

// Installed in bench/peers, which is outside the workspaces: its types are not there for the checker.
const peers = createRequire(new URL('../peers/package.json', import.meta.url));
// biome-ignore lint/suspicious/noExplicitAny: see above
const peer = (name: string): Record<string, any> => peers(name);

/** What the SQLite checkpointer asks of better-sqlite3, over the SQLite of Node: nothing has to be compiled. */
function database(path: string): object {
  const db = new DatabaseSync(path);
  return {
    pragma: (text: string) => db.exec(`PRAGMA ${text}`),
    exec: (text: string) => db.exec(text),
    prepare(text: string) {
      const statement = db.prepare(text);
      const bound = (values: (SQLInputValue | undefined)[]) => values.map((value) => value ?? null);
      return {
        run: (...values: (SQLInputValue | undefined)[]) => statement.run(...bound(values)),
        get: (...values: (SQLInputValue | undefined)[]) => statement.get(...bound(values)),
        all: (...values: (SQLInputValue | undefined)[]) => statement.all(...bound(values)),
      };
    },
    transaction:
      (run: (...args: unknown[]) => unknown) =>
      (...args: unknown[]) => {
        db.exec('BEGIN');
        const result = run(...args);
        db.exec('COMMIT');
        return result;
      },
    close: () => db.close(),
  };
}

/**
 * Runs a graph of so many cycles to its end.
 * @param path file of the SQLite checkpointer; undefined keeps the checkpoints in memory
 * @param page the tool's answer to a call
 */
export async function langgraph(
  cycles: number,
  channel: Channel,
  path: string | undefined,
  page: (i: number) => unknown,
) {
  const { StateGraph, StateSchema, MessagesValue, MessagesDeltaValue, MemorySaver, START, END } =
    peer('@langchain/langgraph');
  const { AIMessage, HumanMessage, ToolMessage } = peer('@langchain/core/messages');
  const { SqliteSaver } = peer('@langchain/langgraph-checkpoint-sqlite');
  const State = new StateSchema({ messages: channel === 'full' ? MessagesValue : MessagesDeltaValue });
  let calls = 0;
  const graph = new StateGraph(State)
    .addNode('agent', () => {
      const i = calls++;
      const tool_calls = i < cycles ? [{ id: `call_${i}`, name: 'orders', args: { page: i } }] : [];
      return { messages: [new AIMessage({ content: `Page ${i} next.`, tool_calls })] };
    })
    .addNode('tools', (state: { messages: { tool_calls: { id: string; args: { page: number } }[] }[] }) => {
      const call = state.messages.at(-1)?.tool_calls[0];
      const content = JSON.stringify(page(call?.args.page ?? 0));
      return { messages: [new ToolMessage({ content, tool_call_id: call?.id })] };
    })
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', (state: { messages: { tool_calls?: unknown[] }[] }) =>
      (state.messages.at(-1)?.tool_calls?.length ?? 0) > 0 ? 'tools' : END,
    )
    .addEdge('tools', 'agent');
  const checkpointer = path === undefined ? new MemorySaver() : new SqliteSaver(database(path));
  const app = graph.compile({ checkpointer });
  await app.invoke(
    { messages: [new HumanMessage('What is the average order value?')] },
    { configurable: { thread_id: '1' }, recursionLimit: 3 * cycles + 10 },
  );
}
