/** A Step: what is known about one model call, tool call or state transition; folded from events, never stored. */
import type { ErrorRecord } from '@chassis/errors';
import type {
  Effect,
  Json,
  JsonObject,
  Message,
  PluginRef,
  ToolDefinition,
  ToolSpec,
  Usage,
} from '@chassis/types';
import type { Edit, Outcome, SessionHeader, StepKind, StepStatus } from './event.ts';
import type { Problem } from './problem.ts';

export interface Attempt {
  readonly number: number;
  readonly model?: string;
  readonly idempotency_key: string;
  /** Set when the attempt failed and another followed. */
  readonly error?: ErrorRecord;
  readonly usage?: Usage | null;
  readonly wait_ms?: number;
  /** What had been streamed. */
  readonly text: string;
  readonly reasoning: string;
}

export interface Step {
  readonly number: number;
  readonly kind: StepKind;
  readonly name: string;
  /** Tool and state steps: the input. Model steps: `{ messages: number, tools: number, params }`, counts only; see `SessionView.request`. */
  readonly input: Json;
  readonly digest: string;
  readonly causes: readonly number[];
  readonly parent: number | null;
  readonly agent: string;
  readonly turn: number;
  readonly plugin: PluginRef | null;
  readonly call_id?: string;
  /** What the tool's definition says that a call may change; absent in older records. */
  readonly declared?: ToolDefinition['effects'];
  /** `started`: the intent is on record. `dispatched`: its effect may have happened. */
  readonly status: 'started' | 'dispatched' | StepStatus;
  readonly started: number;
  readonly output?: Json;
  readonly error?: ErrorRecord;
  readonly duration_ms?: number;
  readonly attempts: readonly Attempt[];
  readonly usage?: Usage | null;
  readonly effects: readonly Effect[];
  readonly edits: readonly Edit[];
  /** Its start is not on record: kind, name and input are not known. */
  readonly lost?: true;
  /** Sequence numbers of its events. `finished` gives the order in which answers came. */
  readonly seq: { readonly started: number; readonly dispatched?: number; readonly finished?: number };
}

export interface Turn {
  readonly number: number;
  readonly input: string;
  /** What began it is not, or not wholly, on record: what is missing of it is empty here. */
  readonly lost?: true;
  /** What the agent was offered in this turn. */
  readonly tools?: readonly ToolSpec[];
  readonly model?: {
    readonly name: string;
    readonly fallbacks: readonly string[];
    readonly params: JsonObject;
  };
  readonly outcome?: Outcome;
  readonly answer?: string;
  readonly error?: ErrorRecord;
  readonly failed_step?: number;
}

export interface ValueRead {
  readonly name: 'now' | 'random' | 'uuid';
  readonly value: Json;
  readonly step: number | null;
  readonly agent: string;
  readonly turn: number;
}

/** What is new in a model step's request since the same agent's previous one. */
export interface RequestDelta {
  /** The previous model step, or null. */
  readonly from: number | null;
  /** How many leading messages are those of that step's request. */
  readonly keep: number;
  /** How many messages follow them. */
  readonly added: number;
  /** The length of their contents together, in UTF-16 units. */
  readonly chars: number;
  /** Those messages; parsed when they are looked at. */
  readonly add: readonly Message[];
}

/** What is known of steps without looking at each of them. Numbers rise. */
export interface Marks {
  /** Steps that have not finished. */
  unfinished(): readonly number[];
  /** Steps that changed, or may have changed, something in the world. */
  changing(): readonly number[];
  /** State transitions. */
  states(): readonly number[];
  /** How many steps began before a turn; undefined for a turn that there is not. */
  before(turn: number): number | undefined;
  /** Sequence number of the event that began a turn; undefined when it is not on record. */
  began(turn: number): number | undefined;
}

/** Everything a session says, folded. Blobs are resolved, edits of a fork applied. */
export interface SessionView {
  readonly header: SessionHeader;
  readonly turns: readonly Turn[];
  /** In the order of their numbers, from 1 without gaps. */
  readonly steps: readonly Step[];
  readonly values: readonly ValueRead[];
  readonly approvals: readonly Json[];
  readonly notes: readonly {
    readonly text: string;
    readonly author: string;
    readonly time: number;
    /** The step that it is about. */
    readonly step?: number;
  }[];
  readonly lastSeq: number;
  /**
   * What is wrong with the record, empty when it is whole. A damaged value is named once it was looked at; it stands there
   * as its reference, `{ "$blob": … }`.
   */
  readonly problems: readonly Problem[];
  /** `running` also for a session whose process died: whether it lives is the lock's business. */
  readonly outcome: 'running' | Outcome;
  step(number: number): Step | undefined;
  /** The request of a model step as the model saw it. */
  request(step: number): {
    readonly messages: readonly Message[];
    readonly tools: readonly ToolSpec[];
    readonly params: JsonObject;
    /** Sentences that name what of it is not on record; absent when it is whole. */
    readonly missing?: readonly string[];
  };
  /** A request as it was logged, without putting the conversation together; undefined where an edit changed it. */
  delta?(step: number): RequestDelta | undefined;
  /** There for a long session, whose steps are read from the log when somebody looks at them. See `stepsFrom`. */
  readonly marks?: Marks | undefined;
}
