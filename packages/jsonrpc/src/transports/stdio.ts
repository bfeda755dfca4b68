/**
 * Our own stdin and stdout.
 *
 * Promise: from here on stdout carries messages only. Whatever code in this process prints (`console.log`,
 * `process.stdout.write`) goes to stderr, also after the connection is over. Only a direct write to file descriptor 1
 * escapes.
 */
import type { Writable } from 'node:stream';
import type { Transport } from '../transport.ts';
import { type StreamOptions, StreamTransport } from './stream.ts';

type Write = typeof process.stdout.write;

/** The real way to stdout, once it has been taken from everybody else. */
let taken: Write | undefined;

function takeStdout(): Write {
  if (!taken) {
    taken = process.stdout.write.bind(process.stdout);
    process.stdout.write = process.stderr.write.bind(process.stderr) as Write;
  }
  return taken;
}

class StdioTransport extends StreamTransport {
  readonly #write: Write;

  constructor(options: StreamOptions) {
    super(process.stdin, process.stdout, options);
    this.#write = takeStdout();
  }

  protected override writeOut(text: string): boolean {
    return this.#write(text);
  }

  /** Stdout stays open as long as the process; only what was written is waited for. */
  protected override async endOutput(writable: Writable): Promise<void> {
    await new Promise<void>((resolve) => {
      writable.once('error', () => resolve());
      this.#write('', () => resolve());
    });
  }
}

/** A transport over our own stdin and stdout; moves everything else that is printed to stderr. */
export function stdioTransport(options: StreamOptions = {}): Transport {
  return new StdioTransport(options);
}
