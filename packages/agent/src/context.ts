/**
 * Keeps a conversation within the model's window: measured where the provider reported, estimated for what is newer.
 */

import { messageTokens, toolTokens } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { Message, ToolSpec } from '@chassis/types';
import { cutToFit, joinCut, plainSummary } from './compaction.ts';
import type { Harness } from './harness.ts';
import type { AgentSettings } from './settings.ts';

const instruction =
  'Summarise the conversation above for yourself, so that the work can go on without it: what was asked, what was found out ' +
  '(with exact names, paths and numbers), what was done, what failed, and what is still to do. Write only the summary.';

export class ContextWindow {
  readonly #harness: Harness;
  readonly #settings: AgentSettings;
  #tools: readonly ToolSpec[];
  /** What the provider counted for the first so many messages. */
  #measured = { messages: 0, tokens: 0 };

  constructor(harness: Harness, settings: AgentSettings, tools: readonly ToolSpec[]) {
    this.#harness = harness;
    this.#settings = settings;
    this.#tools = tools;
  }

  /** The list of tools has become another. */
  offer(tools: readonly ToolSpec[]): void {
    this.#tools = tools;
  }

  /** The provider reported the size of a request of that many messages. */
  measured(messages: number, tokens: number): void {
    this.#measured = { messages, tokens };
  }

  size(messages: readonly Message[]): number {
    const { messages: counted, tokens } = this.#measured;
    const base = counted > 0 && counted <= messages.length ? tokens : toolTokens(this.#tools);
    const from = base === tokens && counted > 0 ? counted : 0;
    return messages.slice(from).reduce((sum, message) => sum + messageTokens(message), base);
  }

  /**
   * The conversation as it may be sent; older messages are summarised when they must be.
   * @throws ContextTooLong when what must stay does not fit: the request never leaves
   */
  async fit(
    messages: readonly Message[],
    causes: readonly number[],
    force = false,
  ): Promise<readonly Message[]> {
    const { context_window: window, compact_at } = this.#settings;
    const size = this.size(messages);
    if (!force && size <= window * compact_at) return messages;
    const compacted = await this.#compact(messages, causes, size);
    this.#measured = { messages: 0, tokens: 0 };
    const after = this.size(compacted);
    if (after <= window) return compacted;
    throw new ChassisError(
      'ContextTooLong',
      `the conversation needs about ${after} tokens and agent.settings.context_window is ${window}; what is left cannot be summarised away`,
      { data: { tokens: after, window, fix: 'raise agent.settings.context_window, or send less at once' } },
    );
  }

  async #compact(
    messages: readonly Message[],
    causes: readonly number[],
    size: number,
  ): Promise<readonly Message[]> {
    const { context_window: window, keep } = this.#settings;
    const cut = cutToFit(messages, window * keep);
    if (cut.old.length === 0) return messages;
    const reply = await this.#harness.generate(
      [...cut.system, ...cut.old, { role: 'user', content: instruction }],
      [],
      causes,
      'compaction',
    );
    const summary = reply.message === undefined ? plainSummary(cut.old) : reply.message.content;
    const compacted = joinCut(cut, summary);
    await this.#harness.note(
      'context.compacted',
      {
        messages: cut.old.length,
        kept: cut.tail.length,
        tokens_before: size,
        by: reply.message === undefined ? 'rule' : 'model',
      },
      [reply.step],
    );
    return compacted;
  }
}
