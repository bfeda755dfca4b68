/**
 * What a connection reports: everything the protocol does not let it say to the other side.
 *
 * Promise: entries name methods, ids and reasons, never params or results: those may hold secrets.
 */
export interface PeerLog {
  readonly level: 'debug' | 'warn' | 'error';
  readonly event: PeerEvent;
  /** One sentence for a person. */
  readonly message: string;
  readonly method?: string;
  readonly id?: unknown;
  /** What an `Internal error` response carries as `data.ref`; finds this entry. */
  readonly ref?: string;
  /** What a handler threw, with its stack. Never sent. */
  readonly error?: unknown;
  /** Summaries of what this side sent last, oldest first. */
  readonly recent?: readonly string[];
}

export type PeerEvent =
  | 'handler-failed'
  | 'hook-failed'
  | 'invalid-message'
  | 'late-response'
  | 'noise'
  | 'notification-failed'
  | 'peer-error'
  | 'unknown-notification'
  | 'unmatched-response'
  | 'wrong-kind';

export type Log = (entry: PeerLog) => void;
