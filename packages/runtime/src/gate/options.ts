/** What the gate is built from, and the face it shows to those who ask through it. */
import type { Json, JsonObject, ModelChunk } from '@chassis/types';
import type { Registry } from '../capability.ts';
import type { Approvals } from './approval.ts';
import type { Ask, Outcome } from './ask.ts';
import type { CircleDetector } from './detectors.ts';
import type { LimitCounter } from './limits.ts';
import type { Recorder } from './recorder.ts';
import type { RetryPolicy } from './retry.ts';
import type { Source } from './source.ts';

export interface TurnModel {
  readonly name: string;
  readonly fallbacks: readonly string[];
  readonly params: JsonObject;
}

export interface GateOptions {
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly source: Source;
  readonly approvals: Approvals;
  readonly limits: LimitCounter;
  /** Watches for calls that bring nothing new; a strict replay has none. */
  readonly circles?: CircleDetector;
  readonly retry: RetryPolicy;
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** Deadline of a model call, milliseconds. */
  readonly modelTimeoutMs: number;
  secret(name: string): Promise<string>;
  /** Added to the system's clock where the record has no reading, milliseconds. */
  readonly clockOffsetMs?: number | undefined;
  /** An ask as the agent made it, then as a fork's edits change it, one after another. Without it asks are what they are. */
  variants?(ask: Ask): Iterable<Ask>;
  /** The model of a turn: first choice, fallbacks, parameters. */
  model(turn: number): TurnModel;
  /** Facts of the session for the agent that asks. */
  context(agent: string, turn: number): Json;
  /** Streamed pieces and log lines as they happen, for whoever watches. */
  onChunk?(step: number, chunk: ModelChunk): void;
  onLog?(plugin: string, level: string, message: string, data?: Json): void;
}

export interface GateFace {
  readonly options: GateOptions;
  step(ask: Ask): Promise<Outcome>;
  value(name: 'now' | 'random' | 'uuid', agent: string, turn: number, step: number | null): Json;
}
