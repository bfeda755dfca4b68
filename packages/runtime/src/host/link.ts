/** A started plugin program, whatever it runs in: what the host needs of it beside the messages. */
import type { CloseReason, Transport } from '@chassis/jsonrpc';
import type { Diagnostics, HostOptions } from './host.ts';

export interface Link {
  readonly transport: Transport;
  /** Whether it could be started at all; if not, the transport closes with the reason. */
  readonly started: boolean;
  /** Whether the other side was there before us, so that only a question shows whether it lives. */
  readonly remote: boolean;
  /** The end of the connection with what is known about it: exit code, last words. */
  explain(reason: CloseReason): CloseReason;
  /** Told of a call that failed: it may show that the other side has forgotten us. */
  failed?(error: unknown): void;
  diagnostics(): Diagnostics;
  /** Ends it with everything it started. Resolves when nothing is left; calling it again is harmless. */
  end(): Promise<void>;
}

export type Connect = (options: HostOptions) => Link | Promise<Link>;
