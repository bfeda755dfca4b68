/**
 * Plugins in a process of their own, in any language, over JSON-RPC on stdio.
 *
 * Promise: the program is started from its argv, never through a shell, in its own folder and process group,
 * with an environment made for it. When it dies, whoever waits knows at once, with exit code and last words.
 * Nothing of the group outlives `close`. Its permissions are declared, not enforced.
 */
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import { type ChildTransport, type CloseReason, Peer, RpcError, spawnTransport } from '@chassis/jsonrpc';
import { failure } from '@chassis/sdk';
import type { JsonObject, Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import { commandOf } from './command.ts';
import { forgetGroup, guardGroup } from './group-watch.ts';
import {
  type Diagnostics,
  type HostOptions,
  type Offer,
  PhaseError,
  type PluginHost,
  type Readiness,
  within,
} from './host.ts';
import { LineLog } from './line-log.ts';
import type { ProcessProtocol } from './protocol.ts';
import { WireCalls } from './wire-calls.ts';

/** Time for the group between SIGTERM and SIGKILL. */
const GRACE_MS = 1_000;

export function processHost(options: HostOptions, protocol: ProcessProtocol): PluginHost {
  const { entry, log } = options;
  const { manifest } = entry.source;
  const { deadlines } = manifest;
  const calls = new WireCalls(options);
  const stderr = new LineLog((line) => log('info', line));
  const noise = new LineLog((line) => log('warn', `on stdout, no JSON-RPC: ${line}`));
  let transport: ChildTransport | undefined;
  let peer: Peer | undefined;
  let over: CloseReason | undefined;
  let loaded = false;
  let closing: Promise<void> | undefined;
  let tellGone: (cause: ChassisError) => void = () => {};
  const gone = new Promise<ChassisError>((resolve) => {
    tellGone = resolve;
  });

  const start = (): Peer => {
    transport = spawnTransport({
      command: commandOf(manifest.command ?? [], entry.folder),
      cwd: entry.folder,
      env: options.env,
      onStderr: (text) => stderr.add(text),
      onNoise: (line) => noise.add(`${line}\n`),
    });
    const connection = new Peer(transport, {
      timeoutMs: 0,
      discover: false,
      log: ({ level, message }) => log(level, message),
    });
    calls.offer(connection);
    peer = connection;
    void connection.closed.then((reason) => {
      over = reason;
      stderr.end();
      if (closing === undefined) tellGone(died(reason));
    });
    return connection;
  };

  const died = (reason: CloseReason): ChassisError =>
    new ChassisError('Unavailable', `plugin ${entry.name}: ${reason.message}`, {
      data: {
        ...(reason.exitCode === undefined ? {} : { exit_code: reason.exitCode }),
        ...(reason.signal === undefined ? {} : { signal: reason.signal }),
        ...(reason.stderr === undefined ? {} : { stderr: reason.stderr.slice(-2_000) }),
      },
    });

  /** The peer's own error when the connection ended, as what happened to the plugin. */
  const asFailure = (error: unknown): ChassisError => {
    const reason = (error as RpcError | undefined)?.data as Partial<CloseReason> | undefined;
    const ended =
      error instanceof RpcError && error.code === ErrorCode.Unavailable && reason?.kind !== undefined;
    return ended ? died(reason as CloseReason) : toChassisError(error);
  };

  const open = async (): Promise<Offer> => {
    const connection = start();
    if (transport?.pid === undefined) {
      const reason = await connection.closed;
      throw new PhaseError(
        'spawn',
        died(reason),
        `install ${manifest.command?.[0]}, or correct command in plugin.yaml`,
      );
    }
    guardGroup(transport.pid);
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
        const cause = asFailure(error);
        const said = transport?.stderr.trim().split('\n').at(-1);
        const words =
          cause.code === ErrorCode.ToolTimeout && said
            ? `${cause.message}; it last said: ${said}`
            : cause.message;
        throw new PhaseError(
          'on_load',
          new ChassisError(cause.code, words, { data: cause.data, cause: error }),
          `run it by hand in ${entry.folder}: ${(manifest.command ?? []).join(' ')}`,
        );
      }
    },

    async ready(): Promise<Readiness> {
      if (peer === undefined || over !== undefined) throw notRunning(entry.name, over);
      return within(deadlines.on_ready_ms, 'on_ready', protocol.ready(peer));
    },

    async invoke(invocation: Invocation): Promise<Result> {
      if (peer === undefined || over !== undefined)
        throw over === undefined ? notRunning(entry.name, over) : died(over);
      const asked = calls.begin(invocation);
      try {
        return await protocol.invoke(peer, invocation, (data) => asked.progress(data as JsonObject));
      } catch (error) {
        if (invocation.signal.aborted) {
          return failure(new ChassisError('Cancelled', 'cancelled'), invocation.ctx.trace_id);
        }
        throw asFailure(error);
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
        await Promise.all([transport?.kill(GRACE_MS), peer?.close('the harness closed the plugin')]);
        if (transport?.pid !== undefined) forgetGroup(transport.pid);
        stderr.end();
      })();
      return closing;
    },

    diagnostics(): Diagnostics {
      return {
        pid: transport?.pid ?? null,
        stderr: transport?.stderr ?? '',
        noise: noise.kept,
        noise_lines: transport?.noiseCount ?? 0,
      };
    },
  };
}

function notRunning(name: string, over: CloseReason | undefined): ChassisError {
  return new ChassisError('Unavailable', `plugin ${name} is not running${over ? `: ${over.message}` : ''}`);
}
