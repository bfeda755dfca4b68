/**
 * A plugin in a worker thread: its crashes, endless loops and memory are its own, its permissions are not
 * limited. A fence against bugs, not against intent.
 */

import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type CloseReason, messagePortTransport } from '@chassis/jsonrpc';
import { preload } from './command.ts';
import type { HostOptions } from './host.ts';
import { LineLog } from './line-log.ts';
import type { Link } from './link.ts';

const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './worker-entry.ts' : './worker-entry.js',
  import.meta.url,
);
/** Megabytes of a worker's heap. */
const HEAP_MB = 512;
const KEPT = 65_536;

/** What the thread is started with. */
export interface WorkerStart {
  readonly module: string;
  readonly digest: string;
}

export function workerLink({ entry, env, log }: HostOptions): Link {
  const start: WorkerStart = {
    module: join(entry.folder, entry.source.manifest.module ?? ''),
    digest: entry.digest,
  };
  const worker = new Worker(ENTRY, {
    name: entry.name,
    workerData: start,
    env: { ...env },
    execArgv: ['--import', preload()],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const lines = new LineLog((line) => log('info', line));
  let said = '';
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT);
      lines.add(text);
    });
  }
  let failure: string | undefined;
  let exitCode: number | undefined;
  worker.on('error', (error) => {
    failure = error instanceof Error ? error.message : String(error);
  });
  worker.once('exit', (code) => {
    exitCode = code;
  });
  return {
    transport: messagePortTransport(worker),
    started: true,
    remote: false,
    explain: (reason: CloseReason) => ({
      ...reason,
      kind: 'exit',
      message: `its thread ended${failure === undefined ? (exitCode === undefined ? '' : ` with code ${exitCode}`) : `: ${failure}`}`,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(said === '' ? {} : { stderr: said }),
    }),
    diagnostics: () => ({ pid: null, stderr: said, noise: [], noise_lines: 0 }),
    async end() {
      await worker.terminate();
      lines.end();
    },
  };
}
