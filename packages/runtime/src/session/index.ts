export { type ApprovalMode, type ApprovalRequest, type Approver, nobody } from '../gate/approval.ts';
export type { Limits } from '../gate/limits.ts';
export type { TurnModel } from '../gate/options.ts';
export type { RetryPolicy } from '../gate/retry.ts';
export { argumentsOf, conversationBefore, cutCallText, historyMessage, toolMessage } from './conversation.ts';
export { type Divergence, type ReplayReport, replay } from './replay.ts';
export { type ForkRequest, type NewSession, Session, type Surroundings } from './session.ts';
export type { LiveSettings, SessionSettings } from './settings.ts';
export type { TurnResult } from './turn.ts';
