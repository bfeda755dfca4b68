/**
 * The seam between a peer and whatever carries its messages.
 *
 * Promise: a transport moves whole JSON texts, in order, and knows nothing of what they mean. It delivers
 * nothing before `start`, nothing after `closed`, and calls `closed` exactly once. It never calls its sink from inside
 * `send`.
 */

/** Why a connection is over. */
export interface CloseReason {
  /** `closed` by us, `ended` by the other side, broken by an `error`, or by the `exit` of a child process. */
  readonly kind: 'closed' | 'ended' | 'error' | 'exit';
  /** One sentence for a person; of a child process with its exit code and the last line of its stderr. */
  readonly message: string;
  readonly exitCode?: number;
  /** The signal that ended a child process, such as `SIGKILL`. */
  readonly signal?: string;
  /** The end of a child process's stderr. */
  readonly stderr?: string;
}

/** Bytes that are no message. */
export interface Damage {
  /** Invalid UTF-8, over the size limit, cut by the end of input, or a header that cannot be trusted. */
  readonly kind: 'encoding' | 'size' | 'cut' | 'header';
  readonly message: string;
}

/** What a transport delivers to. */
export interface Sink {
  /** One JSON text without its framing. False: deliver no more until `resume`. */
  message(text: string): boolean;
  /** After a `header` damage the transport delivers nothing more. */
  damaged(damage: Damage): boolean;
  /** The transport accepts messages again after a `send` that returned false. */
  drained(): void;
  /** The other side will send nothing more; it may still read. */
  ended(): void;
  closed(reason: CloseReason): void;
}

export interface Transport {
  /** Called once. `maxMessageBytes` bounds what is gathered for one message. */
  start(sink: Sink, maxMessageBytes: number): void;
  /**
   * Takes one JSON text; it is always accepted. False: the other side does not read, wait for `drained`.
   *
   * @param alone a hint that nothing else is under way, so that waiting for more to write gains nothing
   */
  send(text: string, alone: boolean): boolean;
  /** Goes on delivering after the sink returned false. */
  resume(): void;
  /** Writes what was accepted, then closes. Resolves when closed; calling it again is harmless. */
  close(): Promise<void>;
  /**
   * Present if the other side is known to print other things between its messages (a child's stdout): texts
   * that are no JSON-RPC go there and are not answered.
   */
  noise?(text: string): void;
}
