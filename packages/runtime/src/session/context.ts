/** The facts of a session that an agent starts its turn from; they come from the record, so that a re-execution has the same. */
import type { SessionView } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import { TOOL_SEARCH } from '../plugin/names.ts';
import { withFound } from '../tools/found.ts';
import { conversationBefore } from './conversation.ts';
import type { SessionSettings } from './settings.ts';

/** What searches of earlier turns found stays at hand. */
function searchesBefore(view: SessionView, turn: number): readonly Json[] {
  return view.steps
    .filter(
      ({ kind, name, status, turn: of }) =>
        kind === 'tool' && name === TOOL_SEARCH && status === 'ok' && of < turn,
    )
    .map(({ output }) => output ?? null);
}

/** `{ history, tools, system, settings, model, workspace, turn }`: see `docs/agents.md`. */
export function sessionContext(view: SessionView, agent: string, turn: number): Json {
  const { agent: own } = view.header.settings as unknown as SessionSettings;
  const current = view.turns[turn - 1];
  const context = {
    history: conversationBefore(view, turn, agent),
    tools: withFound(current?.tools ?? [], searchesBefore(view, turn)),
    system: own.system ?? null,
    settings: own.settings,
    model: (current?.model ?? view.header.model).name,
    workspace: view.header.workspace,
    turn,
  };
  return context as unknown as JsonObject;
}
