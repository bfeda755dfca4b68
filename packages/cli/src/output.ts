/**
 * The one way out: results on stdout, everything else on stderr.
 *
 * Promise: with `--json` every line on stdout is one JSON value and the last tells success or failure; without it text that
 * may come from a model, a tool or a stranger cannot steer the terminal; no known secret gets out either way. When the
 * reader goes away the command ends quietly with 0, except one that has work to finish.
 */
import { ChassisError } from '@chassis/errors';

/** The way to stdout, kept for results: what other code in this process prints there, a plugin say, goes to stderr. */
const writeResult = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Keeps known secrets out; the journal's `Secrets` is one. */
export interface Redactor {
  redact<T>(value: T): T;
}

export class Output {
  readonly json: boolean;
  /** Aborts when nobody reads stdout any more. */
  readonly closed: AbortSignal;
  /** No word about what goes on: results and problems only. */
  quiet = false;
  /** Whether the process goes on when nobody reads: set by a command that has work to finish. */
  outlivesReader = false;
  readonly #closing = new AbortController();
  #redactor: Redactor | undefined;
  /** Text that waits while a question stands on the terminal. */
  #held: (() => void)[] | undefined;
  #draining: Promise<void> | undefined;
  /** stdout broke for another reason than a reader that went away. */
  failure: ChassisError | undefined;

  constructor(options: { readonly json: boolean }) {
    this.json = options.json;
    this.closed = this.#closing.signal;
    process.stdout.on('error', (error: NodeJS.ErrnoException) => this.#broken(error));
    // Nobody left to tell: messages are dropped, the exit code still speaks.
    process.stderr.on('error', () => {});
  }

  /** Keeps everything back while a question stands on the terminal; returns the function that lets it go. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held ??= held;
    return () => {
      if (this.#held !== held) return;
      this.#held = undefined;
      for (const write of held) write();
    };
  }

  guard(redactor: Redactor): void {
    this.#redactor = redactor;
  }

  /** Text of the result. Colours are the caller's; text from outside goes through `visible` first. Nothing with `--json`. */
  line(text = ''): void {
    if (!this.json) this.#write(`${this.#clean(text)}\n`);
  }

  /** Part of a line, for streamed text. */
  part(text: string): void {
    if (!this.json) this.#write(this.#clean(text));
  }

  /** One record of the result. Nothing without `--json`. */
  record(value: object): void {
    if (this.json) this.#write(`${jsonLine(this.#clean(plain(value)))}\n`);
  }

  /** A page of help, in either mode; as one record with `--json`. */
  help(text: string): void {
    if (this.json) this.record({ type: 'help', text });
    else this.#write(text);
  }

  /** A line that is passed on as it stands, in either mode. */
  raw(line: string): void {
    this.#write(`${line}\n`);
  }

  /** That something takes its time, on stderr. */
  progress(text: string): void {
    if (!this.quiet) this.note(text);
  }

  /** Warnings and hints, on stderr. */
  note(text: string): void {
    const line = `${this.#clean(text)}\n`;
    if (this.#held !== undefined) this.#held.push(() => process.stderr.write(line));
    else if (process.stderr.writable) process.stderr.write(line);
  }

  /** Waits while the reader is slow. */
  async drained(): Promise<void> {
    await this.#draining;
  }

  /** Everything written so far has been handed on. */
  async flushed(): Promise<void> {
    await Promise.all([emptied(process.stdout, writeResult), emptied(process.stderr)]);
  }

  #write(text: string): void {
    if (this.closed.aborted) return;
    if (this.#held !== undefined) {
      this.#held.push(() => this.#write(text));
      return;
    }
    if (writeResult(text) || this.#draining !== undefined) return;
    this.#draining = new Promise((resolve) => {
      const done = (): void => {
        process.stdout.off('drain', done);
        this.closed.removeEventListener('abort', done);
        this.#draining = undefined;
        resolve();
      };
      process.stdout.once('drain', done);
      this.closed.addEventListener('abort', done, { once: true });
    });
  }

  #broken(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE')
      this.failure ??= new ChassisError('InternalError', `cannot write to stdout: ${error.message}`, {
        cause: error,
      });
    this.#closing.abort();
    if (!this.outlivesReader && this.failure === undefined) process.exit(0);
  }

  #clean<T>(value: T): T {
    return this.#redactor === undefined ? value : this.#redactor.redact(value);
  }
}

/** JSON that no line reader of any language splits. Numbers kept as they were written stay so. */
function jsonLine(value: object): string {
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Members that are undefined are left out, as JSON does. */
function plain(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function emptied(stream: NodeJS.WriteStream, write = stream.write.bind(stream)): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else write('', () => resolve());
  });
}
