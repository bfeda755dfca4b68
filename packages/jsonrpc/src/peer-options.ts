/**
 * What a peer may be told, and what it does without.
 */
import type { Contracts, SchemaCompiler } from './contract.ts';
import type { DialectName } from './dialect.ts';
import type { ServiceInfo } from './discover.ts';
import type { Interceptor } from './intercept.ts';
import { envelopeDepth } from './json.ts';
import type { Log, PeerLog } from './log.ts';
import type { Methods } from './methods.ts';

export interface PeerOptions {
  /** How cancellation and progress are spelt; default `chassis`. */
  readonly dialect?: DialectName | undefined;
  /** Deadline of every call in milliseconds unless it says otherwise; default 60,000; 0 for none. */
  readonly timeoutMs?: number | undefined;
  /** Requests of the other side that run at once; the rest wait; default 256. */
  readonly maxInFlight?: number | undefined;
  /** Longest message in bytes of UTF-8, in either direction; default 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Deepest nesting of a message in either direction, 3 to 1,000; default 512. */
  readonly maxDepth?: number | undefined;
  /** Most messages in a batch, in either direction; default 1,000. */
  readonly maxBatch?: number | undefined;
  /** Methods shared with other connections; default: a registry of this peer's own. */
  readonly methods?: Methods | undefined;
  /** Makes contracts in plain JSON Schema validate (in the peer's own registry). */
  readonly jsonSchema?: SchemaCompiler | undefined;
  /** Code around every call and notification; the first is the outermost. */
  readonly interceptors?: readonly Interceptor[] | undefined;
  /** Scopes of the other side, for access rules; may be changed later through `peer.scopes`. */
  readonly scopes?: Iterable<string> | undefined;
  /** Who the other side is, for access rules. */
  readonly identity?: unknown;
  /** Title and version in the `rpc.discover` document; `false` does not offer it. */
  readonly discover?: ServiceInfo | false | undefined;
  /** Contracts of the other side: `call` of a notification, and the reverse, is then refused here. */
  readonly remote?: Contracts | undefined;
  /** Where the connection reports; default: errors to stderr. */
  readonly log?: Log | undefined;
}

export interface Limits {
  readonly maxInFlight: number;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxBatch: number;
}

/** Deeper than this, writing a value and reading its exact numbers may run out of stack. */
const deepest = 1000;

/** @throws TypeError for a limit that would let nothing through, or that protects nobody */
export function limitsOf(options: PeerOptions): Limits {
  const limits = {
    maxInFlight: options.maxInFlight ?? 256,
    maxMessageBytes: options.maxMessageBytes ?? 64 * 1024 * 1024,
    maxDepth: options.maxDepth ?? 512,
    maxBatch: options.maxBatch ?? 1000,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' || !(value >= 1))
      throw new TypeError(`${name} must be a number from 1, not ${value}`);
  }
  // An envelope and a batch around it, and params inside.
  if (limits.maxDepth <= envelopeDepth || limits.maxDepth > deepest)
    throw new TypeError(`maxDepth must be from ${envelopeDepth + 1} to ${deepest}, not ${limits.maxDepth}`);
  return limits;
}

/** A log of the program's: one that fails is reported, and never fails the connection. */
export function safeLog(log: Log = logErrors): Log {
  return (entry) => {
    try {
      log(entry);
    } catch (error) {
      logErrors({ level: 'error', event: 'hook-failed', message: 'the log of a peer failed', error });
    }
  };
}

/** Where entries go without the option `log`: errors to stderr, the rest nowhere. */
function logErrors(entry: PeerLog): void {
  if (entry.level !== 'error') return;
  const { inspect } = process.getBuiltinModule('node:util');
  const cause = 'error' in entry ? `\n${inspect(entry.error)}` : '';
  process.stderr.write(`${entry.event}${entry.ref ? ` ${entry.ref}` : ''}: ${entry.message}${cause}\n`);
}
