/** What a plugin's worker thread runs: the module, served on the thread's own port. */
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { messagePortTransport } from '@chassis/jsonrpc';
import { type Plugin, servePlugin } from '@chassis/sdk';
import type { WorkerStart } from './worker-link.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread only');
const { module: path, digest } = workerData as WorkerStart;
const url = pathToFileURL(path);
url.searchParams.set('digest', digest.slice(0, 16));
const { default: plugin } = (await import(url.href)) as { default: Plugin };
// A thread is ended from outside, and then writes nothing.
flushCompileCache();
await servePlugin(plugin, messagePortTransport(parentPort));
