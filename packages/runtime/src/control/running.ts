/**
 * Harnesses that run on a store, found by the notes that they left there.
 *
 * Promise: one that was killed is not listed, and its note is taken away; whoever does not answer in time is left alone.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { connect, Peer, RpcError } from '@chassis/jsonrpc';
import { notesFolder, type RunningNote } from './serve.ts';

export interface RunningHarness extends RunningNote {
  /** @throws ChassisError: the harness's own, or Unavailable when it has gone */
  readonly call: (method: string, params?: object) => Promise<unknown>;
}

/** Oldest first; this process itself is not among them. */
export async function runningOn(store: string): Promise<RunningHarness[]> {
  const folder = notesFolder(store);
  const files = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    files.filter((file) => file.endsWith('.json')).map((file) => answering(join(folder, file))),
  );
  return found.filter((one) => one !== undefined).toSorted((a, b) => a.since - b.since);
}

async function answering(file: string): Promise<RunningHarness | undefined> {
  const note = await noteIn(file);
  if (note === undefined || note.pid === process.pid) return undefined;
  try {
    const transport = await connect(`unix:${note.socket}`);
    await new Peer(transport, { log: () => {} }).close();
  } catch (error) {
    // Only what certainly is nobody's any more is taken away.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') await removeLeft(file, note);
    return undefined;
  }
  return { ...note, call: (method, params = {}) => callOnce(note, method, params) };
}

async function callOnce(note: RunningNote, method: string, params: object): Promise<unknown> {
  let peer: Peer | undefined;
  try {
    peer = new Peer(await connect(`unix:${note.socket}`), { timeoutMs: 120_000, log: () => {} });
    return await peer.call(method, params);
  } catch (error) {
    if (error instanceof RpcError)
      throw new ChassisError(error.code, error.message, { data: error.data, cause: error });
    throw new ChassisError(
      'Unavailable',
      `process ${note.pid} cannot be reached: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  } finally {
    await peer?.close();
  }
}

async function noteIn(file: string): Promise<RunningNote | undefined> {
  try {
    const note = JSON.parse(await readFile(file, 'utf8')) as Partial<RunningNote>;
    return typeof note.pid === 'number' && typeof note.socket === 'string'
      ? (note as RunningNote)
      : undefined;
  } catch {
    return undefined;
  }
}

async function removeLeft(file: string, { pid, socket }: RunningNote): Promise<void> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') return;
    await rm(file, { force: true });
    await rm(socket, { force: true });
  }
}
