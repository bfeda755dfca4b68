/** The default agent, as the plugin that it is: nothing in the runtime knows it by name. */
import { definePlugin } from '@chassis/sdk';
import { runTurn } from './loop.ts';

export { estimateTokens, messageTokens } from '@chassis/analyze';
export { compact, groupsOf } from './compaction.ts';

export default definePlugin({ agents: { default: runTurn } });
