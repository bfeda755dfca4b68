/**
 * A child process that speaks JSON-RPC on its stdio.
 *
 * Promise: the child runs in a process group of its own and nothing of the group outlives the transport; its
 * stderr is always drained; its end is reported with exit code and last words. What it prints between messages is
 * noise, not an error.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { FramingName } from '../framing/framing.ts';
import type { CloseReason, Sink } from '../transport.ts';
import { endGroup, watchGroup } from './process-group.ts';
import { StreamTransport } from './stream.ts';

export interface SpawnOptions {
  /** Program and arguments; no shell is involved. */
  readonly command: readonly string[];
  readonly cwd?: string | undefined;
  /** What starts the command instead of us, with the command as its last arguments; its `stdio` are descriptors from 3 on. */
  readonly launcher?:
    | { readonly command: readonly string[]; readonly stdio: readonly Writable[] }
    | undefined;
  /** The child's whole environment; default: ours. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default `ndjson`. */
  readonly framing?: FramingName | undefined;
  /** How much of stderr is kept, in UTF-16 units; default 65,536. */
  readonly stderrBytes?: number | undefined;
  /** Called with every piece of stderr. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Called with every line on stdout that is no JSON-RPC. */
  readonly onNoise?: ((line: string) => void) | undefined;
}

export interface Exit {
  /** Null if a signal ended the process, or if it could not be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long the rest of the output may take after the process has gone, or the exit after the end of output. */
const settleMs = 250;
const defaultGraceMs = 2000;

export class ChildTransport extends StreamTransport {
  readonly exited: Promise<Exit>;
  /** Lines on stdout so far that were no JSON-RPC. */
  noiseCount = 0;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #command: string;
  readonly #stderr: Tail;
  readonly #onNoise: ((line: string) => void) | undefined;
  /** The exit, once stdout and stderr have been read to their ends. */
  readonly #settled: Promise<void>;
  #exit: Exit | undefined;
  #ending: CloseReason | undefined;
  #killing: Promise<void> | undefined;

  constructor(options: SpawnOptions) {
    const name = options.command[0];
    if (!name) throw new TypeError('command must name a program');
    const { spawn } = process.getBuiltinModule('node:child_process');
    const [program = name, ...args] = [...(options.launcher?.command ?? []), ...options.command];
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env as NodeJS.ProcessEnv | undefined,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(options.launcher?.stdio ?? [])],
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams;
    super(child.stdout, child.stdin, { framing: options.framing });
    this.#child = child;
    this.#command = name;
    this.#onNoise = options.onNoise;
    this.#stderr = new Tail(options.stderrBytes ?? 65_536);
    if (child.pid !== undefined) watchGroup(child.pid);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr.add(text);
      options.onStderr?.(text);
    });
    child.stderr.on('error', () => {}); // the end of the process says it all
    this.exited = new Promise((resolve) => {
      const exit = (code: number | null, signal: NodeJS.Signals | null): void => {
        this.#exit ??= { code, signal };
        resolve(this.#exit);
      };
      child.once('exit', exit);
      child.once('error', (error) => {
        if (child.pid !== undefined) return;
        this.#ending = { kind: 'error', message: `cannot start "${name}": ${error.message}` };
        exit(null, null);
      });
    });
    this.#settled = new Promise((resolve) => child.once('close', () => resolve()));
    void this.exited.then(() => this.finish(processEnded));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The end of what the child has written to stderr. */
  get stderr(): string {
    return this.#stderr.text;
  }

  noise(line: string): void {
    this.noiseCount++;
    this.#onNoise?.(line);
  }

  /**
   * Ends the child and everything it started: end of stdin, then SIGTERM, then SIGKILL.
   *
   * @param graceMs how long the group may take after SIGTERM; default 2,000
   * @returns resolves when the child was reaped
   */
  kill(graceMs: number = defaultGraceMs): Promise<void> {
    this.#killing ??= endGroup(this.#child, this.exited, graceMs);
    return this.#killing;
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.kill()]);
  }

  protected override inputEnded(_sink: Sink): void {
    this.finish({ kind: 'ended', message: `"${this.#command}" closed its stdout` });
  }

  /** The first sign of the end may be a broken pipe; what callers want to know is the exit code. */
  protected override finish(reason: CloseReason): void {
    if (reason.kind === 'closed') {
      super.finish({ ...reason, ...this.#exitDetails() });
      return;
    }
    if (this.#ending && this.#ending.kind !== 'error') return;
    this.#ending ??= reason;
    void this.#report(this.#ending);
  }

  async #report(reason: CloseReason): Promise<void> {
    const patience = new Promise((resolve) => setTimeout(resolve, settleMs).unref());
    await Promise.race([this.#settled, this.#killing ?? patience]);
    const exit = this.#exit;
    if (exit && (exit.code !== null || exit.signal !== null)) {
      const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
      const said = this.#stderr.lastLine;
      const message = `"${this.#command}" ${how}${said ? `: ${said}` : ''}`;
      super.finish({ kind: 'exit', message, ...this.#exitDetails() });
    } else super.finish({ ...reason, ...this.#exitDetails() });
    void this.kill();
  }

  #exitDetails(): Partial<CloseReason> {
    const { code = null, signal = null } = this.#exit ?? {};
    return {
      ...(code === null ? {} : { exitCode: code }),
      ...(signal === null ? {} : { signal }),
      ...(this.stderr === '' ? {} : { stderr: this.stderr }),
    };
  }
}

/**
 * The end of a long text.
 *
 * Promise: at most twice the wanted length is kept, and adding is linear in what is added.
 */
class Tail {
  readonly #limit: number;
  #text = '';

  /** @param limit UTF-16 units kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * this.#limit) this.#text = this.text;
  }

  get text(): string {
    return this.#limit > 0 ? this.#text.slice(-this.#limit) : '';
  }

  /** The last line that is not blank. */
  get lastLine(): string {
    return this.text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  }
}

const processEnded: CloseReason = { kind: 'exit', message: 'the process ended' };

/**
 * Starts a child process and speaks with it on its stdio.
 *
 * @throws TypeError if `command` is empty; a program that cannot be started is reported as the reason of closing
 */
export function spawnTransport(options: SpawnOptions): ChildTransport {
  return new ChildTransport(options);
}
