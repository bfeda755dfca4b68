/**
 * The events of a session, as plain data. A session is nothing but these, in the order of `seq`.
 *
 * Promise: adding a type or a member never breaks a reader; a reader that does not know one keeps it byte for byte.
 */
import type { ErrorRecord } from '@chassis/errors';
import type { Effect, Json, JsonObject, Message, PluginRef, ToolDefinition, Usage } from '@chassis/types';

/** A value kept outside the line by its content hash. `bytes` is the uncompressed length. */
export interface BlobRef {
  readonly $blob: { readonly sha256: string; readonly bytes: number; readonly media_type: string };
}

/** The immutable header: data of `session.opened`, and the whole of `head.json`. */
export interface SessionHeader {
  readonly format: 'chassis.session';
  readonly v: 1;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Version of Chassis that wrote it. */
  readonly chassis: string;
  readonly title: string;
  /** Folder that the agent's tools work in, absolute. */
  readonly workspace: string;
  /** Folder of the `chassis.yaml` that was in force, absolute. */
  readonly project: string;
  readonly agent: PluginRef & { readonly agent: string };
  readonly model: {
    readonly name: string;
    readonly fallbacks: readonly string[];
    readonly params: JsonObject;
  };
  readonly plugins: readonly PluginRef[];
  /** The settings a re-execution needs; secrets appear by reference only. */
  readonly settings: JsonObject;
  /** Where this session branched off: it shares the parent's events up to and including `seq`. */
  readonly parent?: {
    readonly session: string;
    readonly seq: number;
    readonly step: number;
    readonly hash: string;
  };
}

export type StepKind = 'model' | 'tool' | 'state';
export type StepStatus = 'ok' | 'error' | 'timeout' | 'cancelled' | 'denied' | 'unknown';

/** A request's messages as what is new since the same agent's previous model step; `keep` counts unchanged leading ones. */
export interface MessageDelta {
  readonly from: number | null;
  readonly keep: number;
  readonly add: readonly Message[];
}

/** Input of a model step as it is logged. */
export interface LoggedModelInput {
  readonly messages: MessageDelta;
  /** The tools offered, by content hash: a catalogue is stored once. */
  readonly tools: BlobRef;
  readonly params: JsonObject;
}

export interface StepStarted {
  readonly kind: StepKind;
  readonly name: string;
  /** Tool and state steps: the input. Model steps: `LoggedModelInput`. */
  readonly input: Json | LoggedModelInput;
  /** SHA-256 of the whole input with sorted keys, so that a re-execution can be compared without storing it twice. */
  readonly digest: string;
  /** Steps that led to this one (control flow, as recorded). */
  readonly causes: readonly number[];
  /** The step this one runs inside of, or null at the top. */
  readonly parent: number | null;
  /** Path of the agent that asked, `main` for the session's own. */
  readonly agent: string;
  /** Which turn of the conversation, from 1. */
  readonly turn: number;
  readonly plugin: PluginRef | null;
  /** The model's id of a tool call. */
  readonly call_id?: string;
  /** Tool steps: what the tool's definition says that a call may change. */
  readonly declared?: ToolDefinition['effects'];
}

export interface Edit {
  readonly step: number;
  /** JSON Pointer rooted at the step: `/output/rows/3/amount`, `/input/…`, `/error`. */
  readonly path: string;
  readonly value: Json;
}

/** What a repair could not bring back. */
export interface Losses {
  /** First and last of the lost events, and the SHA-256 of the line that stands at that place now. */
  readonly events: readonly { readonly from: number; readonly to: number; readonly digest: string }[];
  /** Content hashes of values that are gone. */
  readonly blobs: readonly string[];
}

/** Data by event type. */
export interface EventData {
  'session.opened': SessionHeader;
  'input.received': {
    readonly turn: number;
    readonly content: string;
    /** The tools offered in this turn (`ToolSpec[]`), by content hash. */
    readonly tools?: BlobRef;
    /** The model of this turn: first choice and fallbacks. */
    readonly model?: {
      readonly name: string;
      readonly fallbacks: readonly string[];
      readonly params: JsonObject;
    };
  };
  'step.started': StepStarted;
  'step.chunk': {
    readonly attempt: number;
    readonly text?: string;
    readonly reasoning?: string;
    readonly tool_calls?: Json;
  };
  'step.dispatched': {
    readonly attempt: number;
    readonly idempotency_key: string;
    /** Model steps: the model that this attempt asks. */
    readonly model?: string;
  };
  /** One failed attempt. What it had streamed is superseded; `next_model` is there when the next attempt asks another model. */
  'step.attempt': {
    readonly attempt: number;
    readonly model?: string;
    readonly error: ErrorRecord;
    readonly usage: Usage | null;
    readonly wait_ms: number;
    readonly next_model?: string;
  };
  'value.read': {
    readonly name: 'now' | 'random' | 'uuid';
    readonly value: Json;
    readonly agent: string;
    readonly turn: number;
  };
  'step.finished': {
    readonly status: StepStatus;
    readonly output?: Json;
    readonly error?: ErrorRecord;
    readonly duration_ms: number;
    readonly attempts: number;
    readonly usage?: Usage | null;
    readonly effects?: readonly Effect[];
  };
  'approval.requested': {
    readonly id: string;
    readonly tool: string;
    readonly plugin: PluginRef;
    readonly input: Json;
    /** SHA-256 over the tool's definition, the exact arguments and the policy in force. */
    readonly digest: string;
    readonly reason: string;
  };
  'approval.resolved': {
    readonly id: string;
    readonly decision: 'allow' | 'deny';
    readonly by: string;
    readonly reason?: string;
  };
  'plugin.changed': {
    readonly plugin: string;
    readonly change: 'loaded' | 'reloaded' | 'unloaded' | 'changed' | 'unavailable' | 'recovered';
    readonly reason: string;
    readonly data?: Json;
  };
  'snapshot.taken': { readonly state: string };
  'note.added': { readonly text: string; readonly author: string };
  'session.forked': {
    readonly parent: { readonly session: string; readonly seq: number; readonly step: number };
    readonly edits: readonly Edit[];
    /** Steps that had started but not finished at the fork point: they run anew. */
    readonly rerun: readonly number[];
  };
  'session.resumed': { readonly reason: string; readonly rerun: readonly number[] };
  'session.repaired': {
    readonly problems: readonly Json[];
    readonly steps: readonly number[];
    /** What could not be brought back, once a repair has put it on record. */
    readonly lost?: Losses;
  };
  'session.ended': {
    readonly outcome: Outcome;
    readonly turn: number;
    readonly answer?: string;
    readonly error?: ErrorRecord;
    /** The step whose failure ended the turn, when one did. */
    readonly failed_step?: number;
  };
}

export type Outcome = 'ok' | 'failed' | 'cancelled' | 'interrupted';
export type EventType = keyof EventData;

interface EventOf<T extends EventType> {
  readonly v: 1;
  readonly session: string;
  readonly seq: number;
  /** Milliseconds since the epoch; information only, order is `seq`. */
  readonly time: number;
  readonly type: T;
  readonly step?: number;
  readonly data: EventData[T];
  readonly hash: string;
}

/** Any event that this version knows. */
export type Event = { [T in EventType]: EventOf<T> }[EventType];

/** An event of a type that this version does not know (a plugin's `x-<plugin>.*`, or a newer Chassis). */
export interface UnknownEvent {
  readonly v: number;
  readonly session: string;
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly step?: number;
  readonly data: Json;
  readonly hash: string;
}

/** What stands before an event's data. */
export interface EventHead {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly type: string;
  readonly step: number | undefined;
  /** Length of its line, without the newline. */
  readonly bytes: number;
}
