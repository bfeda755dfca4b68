/**
 * Plugins that are spoken to over JSON-RPC: in a process or a thread of their own.
 *
 * Promise: when such a plugin dies, whoever waits knows at once, with exit code and last words. Hooks have
 * deadlines, invocations have the gate's. Its permissions are declared, not enforced.
 */
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import { type CloseReason, Peer, RpcError } from '@chassis/jsonrpc';
import { failure } from '@chassis/sdk';
import type { JsonObject, Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import { commandOf } from './command.ts';
import { type HostOptions, type Offer, PhaseError, type PluginHost, type Readiness, within } from './host.ts';
import type { Connect, Link } from './link.ts';
import type { Protocol } from './protocol.ts';
import { lastError } from './stack-place.ts';
import { WireCalls } from './wire-calls.ts';

export function remoteHost(options: HostOptions, protocol: Protocol, connect: Connect): PluginHost {
  const { entry, log } = options;
  const { manifest } = entry.source;
  const { deadlines } = manifest;
  const calls = new WireCalls(options);
  let link: Link | undefined;
  let peer: Peer | undefined;
  let over: CloseReason | undefined;
  let loaded = false;
  let closing: Promise<void> | undefined;
  let tellGone: (cause: ChassisError) => void = () => {};
  const gone = new Promise<ChassisError>((resolve) => {
    tellGone = resolve;
  });

  const start = (): Peer => {
    const started = connect(options);
    const connection = new Peer(started.transport, {
      dialect: protocol.dialect,
      timeoutMs: 0,
      discover: false,
      log: ({ level, message }) => log(level, message),
    });
    calls.offer(connection);
    link = started;
    peer = connection;
    void connection.closed.then((reason) => {
      over = started.explain(reason);
      if (closing === undefined) tellGone(died(over));
    });
    return connection;
  };

  const died = (reason: CloseReason): ChassisError =>
    new ChassisError('Unavailable', `plugin ${entry.name}: ${told(reason, entry.folder)}`, {
      data: {
        ...(reason.exitCode === undefined ? {} : { exit_code: reason.exitCode }),
        ...(reason.signal === undefined ? {} : { signal: reason.signal }),
        ...(reason.stderr === undefined ? {} : { stderr: reason.stderr.slice(-2_000) }),
      },
    });

  /** The peer's own error when the connection ended, as what happened to the plugin. */
  const asFailure = async (error: unknown): Promise<ChassisError> => {
    if (!isEndOfConnection(error)) return toChassisError(error);
    if (peer !== undefined && closing === undefined) await peer.closed;
    return died(over ?? (error.data as CloseReason));
  };

  const open = async (): Promise<Offer> => {
    const connection = start();
    if (link?.started === false) {
      const fix = `install ${manifest.command?.[0]}, or correct command in plugin.yaml`;
      throw new PhaseError('spawn', died(await connection.closed), fix);
    }
    return protocol.load(connection, options);
  };

  return {
    gone,

    async load() {
      try {
        const offer = await within(deadlines.on_load_ms, 'on_load', open());
        loaded = true;
        return offer;
      } catch (error) {
        if (error instanceof PhaseError) throw error;
        const cause = await asFailure(error);
        const said = link?.diagnostics().stderr.trim().split('\n').at(-1);
        const late = cause.code === ErrorCode.ToolTimeout && said;
        const words = late
          ? `${cause.message}; it last said: ${said}`
          : `${cause.message}${unserved(options, over)}`;
        throw new PhaseError(
          'on_load',
          new ChassisError(cause.code, words, { data: cause.data, cause: error }),
          byHand(options),
        );
      }
    },

    async ready(): Promise<Readiness> {
      if (peer === undefined || over !== undefined) throw notRunning();
      return within(deadlines.on_ready_ms, 'on_ready', protocol.ready(peer));
    },

    async invoke(invocation: Invocation): Promise<Result> {
      if (peer === undefined || over !== undefined) throw notRunning();
      const asked = calls.begin(invocation);
      try {
        return await protocol.invoke(peer, invocation, (data) => asked.progress(data as JsonObject));
      } catch (error) {
        if (invocation.signal.aborted) {
          return failure(new ChassisError('Cancelled', 'cancelled'), invocation.ctx.trace_id);
        }
        throw await asFailure(error);
      } finally {
        calls.end(invocation);
      }
    },

    close() {
      closing ??= (async () => {
        if (loaded && over === undefined && peer !== undefined) {
          try {
            await within(deadlines.on_shutdown_ms, 'on_shutdown', protocol.shutdown(peer));
          } catch (error) {
            if (over === undefined) log('warn', `on_shutdown failed: ${toChassisError(error).message}`);
          }
        }
        await Promise.all([link?.end(), peer?.close('the harness closed the plugin')]);
      })();
      return closing;
    },

    diagnostics: () => link?.diagnostics(),
  };

  function notRunning(): ChassisError {
    return over === undefined
      ? new ChassisError('Unavailable', `plugin ${entry.name} is not running`)
      : died(over);
  }
}

/** Whether an error of the connection says that it is over. A plugin may send the same code, but not such data. */
export function isEndOfConnection(error: unknown): error is RpcError {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.Unavailable) return false;
  const { kind } = (error.data ?? {}) as { kind?: unknown };
  return kind === 'closed' || kind === 'ended' || kind === 'error' || kind === 'exit';
}

/** The end of a process in words: with the error that it printed and its place, not just its last line. */
function told({ message, stderr = '' }: CloseReason, folder: string): string {
  const last = stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (last === '' || !message.endsWith(last)) return message;
  return `${message.slice(0, -last.length)}${lastError(stderr, folder)}`;
}

/** A program that ends well before it has answered has most likely defined its plugin and not served it. */
function unserved({ entry }: HostOptions, over: CloseReason | undefined): string {
  const { command = [], protocol, runtime } = entry.source.manifest;
  if (over?.exitCode !== 0 || runtime !== 'process' || protocol === 'jsonrpc') return '';
  if (isPython(command)) return '; did you call plugin.run()?';
  return command[0] === 'node' ? '; did you call serve()?' : '; it must go on until its stdin ends';
}

function isPython(command: readonly string[]): boolean {
  return command.some((part) => /(?:^|\/)python[\d.]*$|\.py$/.test(part));
}

/** A command that a shell takes, and that finds the SDK as the harness lets it. */
function byHand({ entry, env }: HostOptions): string {
  const { command, module } = entry.source.manifest;
  if (command === undefined) return `look at ${module}`;
  const sdk = isPython(command) && env.PYTHONPATH ? [`PYTHONPATH=${quoted(env.PYTHONPATH)}`] : [];
  const words = [...sdk, ...commandOf(command, entry.folder).map(quoted)];
  return `run it by hand: cd ${quoted(entry.folder)} && ${words.join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
