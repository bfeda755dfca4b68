/**
 * Conversations in the format of OpenAI's chat completions, as fine-tuning files, request logs and many tools keep them. Either each
 * line is a conversation (`{"messages": […], "tools"?: […], "model"?, "response"?: {"choices": […]}}`), or each is one message
 * (`{"role": …, "content": …}`) and the file is one conversation.
 */
import { hash } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, Message, ToolSpec } from '@chassis/types';
import type { SessionHeader } from '../event.ts';
import type { Importer } from '../importer.ts';
import { parseJson } from '../json.ts';
import type { Store } from '../store.ts';
import { FORMAT_VERSION } from '../upgrade.ts';
import { isObject, messageOf, usageOf } from './chat-messages.ts';
import { type Conversation, recordConversation } from './record-conversation.ts';

export interface ChatOptions {
  /** What the sessions' headers say: the version of Chassis, and the folder that they are taken to belong to. */
  readonly chassis: string;
  readonly folder: string;
}

export const chatImporter = (options: ChatOptions): Importer => ({
  name: 'chat',
  accepts(line) {
    try {
      const value = parseJson(line);
      return isObject(value) && (Array.isArray(value.messages) || typeof value.role === 'string');
    } catch {
      return false;
    }
  },
  async *read(lines, store) {
    const single: Message[] = [];
    const text = hash256();
    let number = 0;
    for await (const raw of lines) {
      number++;
      const line = raw.trim();
      if (line === '') continue;
      const value = read(line, number);
      if (Array.isArray(value.messages)) {
        yield await record(store, conversationOf(value, number), idOf(line), options);
      } else {
        single.push(at(number, () => messageOf(value)));
        text.update(`${line}\n`);
      }
    }
    if (single.length > 0)
      yield await record(store, { messages: single, tools: [] }, idOf(text.digest()), options);
  },
});

function hash256(): { update(text: string): void; digest(): string } {
  let all = '';
  return {
    // A chain of hashes: nothing of a long file is held for it.
    update: (text) => {
      all = hash('sha256', all + text);
    },
    digest: () => all,
  };
}

function read(line: string, number: number): JsonObject {
  const value = at(number, () => parseJson(line));
  if (!isObject(value)) throw wrong(number, 'this is no object');
  return value;
}

function conversationOf(value: JsonObject, number: number): Conversation {
  const messages = (value.messages as readonly Json[]).map((message, index) =>
    at(number, () => messageOf(message), `/messages/${index}`),
  );
  const answer = isObject(value.response) ? value.response : value;
  const [choice] = Array.isArray(answer.choices) ? (answer.choices as Json[]) : [];
  if (isObject(choice)) messages.push(at(number, () => messageOf(choice.message), '/choices/0/message'));
  const model = answer.model ?? value.model;
  return {
    messages,
    tools: toolsOf(value.tools),
    usage: usageOf(answer.usage),
    ...(typeof model === 'string' ? { model } : {}),
  };
}

function toolsOf(value: Json | undefined): ToolSpec[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((tool) => {
    const spec = isObject(tool) ? (isObject(tool.function) ? tool.function : tool) : undefined;
    if (typeof spec?.name !== 'string') return [];
    const { name, description, parameters } = spec;
    return [
      {
        name,
        description: typeof description === 'string' ? description : '',
        parameters: isObject(parameters) ? parameters : { type: 'object' },
      },
    ];
  });
}

async function record(
  store: Store,
  conversation: Conversation,
  id: string,
  { chassis, folder }: ChatOptions,
): Promise<string> {
  const asked = conversation.messages.find(({ role }) => role === 'user')?.content ?? '';
  const header: SessionHeader = {
    format: 'chassis.session',
    v: FORMAT_VERSION,
    id,
    created: Date.now(),
    chassis,
    title: (asked.trim().split('\n')[0] ?? '').slice(0, 60).toWellFormed(),
    workspace: folder,
    project: folder,
    agent: { name: 'imported', version: '0.0.0', digest: '', agent: 'chat' },
    model: { name: conversation.model ?? 'unknown', fallbacks: [], params: {} },
    plugins: [],
    settings: { imported: 'chat' },
  };
  const writer = await store.create(header);
  recordConversation(writer, conversation);
  await writer.close();
  return id;
}

/** The same text, the same id: an import of it again finds it there. */
function idOf(text: string): string {
  const digits = BigInt(`0x${hash('sha256', text).slice(0, 16)}`).toString(32);
  return `c${digits.padStart(13, '0').slice(-11)}`;
}

function at<T>(line: number, work: () => T, pointer = ''): T {
  try {
    return work();
  } catch (error) {
    throw wrong(line, `${pointer === '' ? '' : `${pointer}: `}${(error as Error).message}`);
  }
}

function wrong(line: number, what: string): ChassisError {
  return new ChassisError('InvalidParams', `line ${line}: ${what}`, { data: { line } });
}
