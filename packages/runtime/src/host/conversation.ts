/** What is said to a started plugin program, whatever protocol it speaks and whatever carries the words. */
import type { CloseReason } from '@chassis/jsonrpc';
import type { Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import type { Diagnostics, HostOptions, Offer, Readiness } from './host.ts';

export interface Conversation {
  /** Resolves, never rejects, when nothing more can be said, with what is known about the end. */
  readonly over: Promise<CloseReason>;
  /** @throws PhaseError when the program cannot be started at all; else what the connection throws */
  load(): Promise<Offer>;
  ready(): Promise<Readiness>;
  /** @throws what the connection throws; that means that the plugin broke */
  invoke(invocation: Invocation): Promise<Result>;
  shutdown(): Promise<void>;
  /** Ends it with everything that it started. Resolves when nothing is left; calling it again is harmless. */
  end(): Promise<void>;
  /** The program tells that it offers something else from now on. */
  onOffer(listener: (offer: Offer) => void): void;
  diagnostics(): Diagnostics;
}

export type Open = (options: HostOptions) => Promise<Conversation>;
