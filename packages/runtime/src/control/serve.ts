/**
 * The door of a running harness: other commands ask it for its plugins, and reload them in it.
 *
 * Promise: only the same user gets in; whoever comes is answered from the live registry, never from a fresh look at the disk.
 * The socket and the note that leads to it are gone when it is closed; those of a process that was killed hurt nobody.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { type Listener, listen, Methods, Peer } from '@chassis/jsonrpc';
import { compileSchema, didYouMean } from '@chassis/schema';
import type { PluginStatus } from '../capability.ts';
import type { LiveRegistry } from '../registry/options.ts';
import { CHASSIS_VERSION } from '../version.ts';

/** What stands in the note of a running process. */
export interface RunningNote {
  readonly pid: number;
  readonly socket: string;
  /** `run`, `serve`: what it was started as. */
  readonly command: string;
  /** Folder of its project. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface Control {
  readonly socket: string;
  close(): Promise<void>;
}

/** Longest path of a socket on every system we know, with room for the end of the string. */
const LONGEST = 100;

export function notesFolder(store: string): string {
  return join(store, 'running');
}

/**
 * @param store the `.chassis` folder
 * @throws the system's error when it cannot listen there
 */
export async function serveControl(store: string, registry: LiveRegistry, command: string): Promise<Control> {
  const folder = notesFolder(store);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const socket = await socketPath(folder);
  const methods = methodsOf(registry);
  const peers = new Set<Peer>();
  const listener: Listener = await listen({ path: socket }, (transport) => {
    const peer = new Peer(transport, {
      methods,
      discover: { title: 'Chassis, running', version: CHASSIS_VERSION },
      log: () => {},
    });
    peers.add(peer);
    void peer.closed.then(() => peers.delete(peer));
  });
  const note: RunningNote = {
    pid: process.pid,
    socket,
    command,
    root: registry.project.root,
    since: Date.now(),
  };
  const file = join(folder, `${process.pid}.json`);
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
  return {
    socket,
    async close() {
      await rm(file, { force: true });
      await Promise.all([listener.close(), ...[...peers].map((peer) => peer.close('the harness ends'))]);
      await rm(socket, { force: true });
    },
  };
}

/** In the store, unless the path would be too long for a socket. */
async function socketPath(folder: string): Promise<string> {
  const near = join(folder, `${process.pid}.sock`);
  if (Buffer.byteLength(near) <= LONGEST) return near;
  const { uid } = userInfo();
  const own = join(tmpdir(), `chassis-${uid}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  const there = await lstat(own);
  if (!there.isDirectory() || (uid >= 0 && there.uid !== uid) || (there.mode & 0o077) !== 0)
    throw new ChassisError('PermissionDenied', `${own} is not a folder for this user only`, {
      data: { fix: `remove ${own}` },
    });
  return join(own, `${createHash('sha256').update(near).digest('hex').slice(0, 16)}.sock`);
}

const nothing = { type: 'object', additionalProperties: false };
const named = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1 } },
};
const unloading = { ...named, properties: { ...named.properties, force: { type: 'boolean' } } };

function methodsOf(registry: LiveRegistry): Methods {
  const known = (name: string): PluginStatus => {
    const found = registry.plugins().find((plugin) => plugin.name === name);
    if (found !== undefined) return found;
    const names = registry.plugins().map((plugin) => plugin.name);
    throw new ChassisError('InvalidParams', `there is no plugin "${name}"${didYouMean(name, names)}`);
  };
  const reload = async (params: unknown) => ({
    plugin: await registry.reload((params as { name: string }).name),
  });
  return new Methods({ jsonSchema: (schema) => compileSchema(schema) })
    .method('plugin.list', { params: nothing, summary: 'Every plugin with its state.' }, () => ({
      plugins: registry.plugins(),
    }))
    .method(
      'plugin.get',
      { params: named, summary: 'One plugin, with what its process left behind.' },
      (params) => {
        const { name } = params as { name: string };
        return { plugin: known(name), diagnostics: registry.diagnostics(name) ?? null };
      },
    )
    .method(
      'plugin.health',
      { params: nothing, summary: 'Whether a run could do its work now, and what keeps it from it.' },
      () => registry.readiness(),
    )
    .method('skill.list', { params: nothing, summary: 'Every skill that can be read now.' }, () => ({
      skills: registry.skills(),
    }))
    .method('plugin.load', { params: named, summary: 'Starts a plugin that was not there.' }, reload)
    .method('plugin.reload', { params: named, summary: 'Reads a plugin again and swaps it in.' }, reload)
    .method('plugin.unload', { params: unloading, summary: 'Takes a plugin out.' }, async (params) => {
      const { name, force } = params as { name: string; force?: boolean };
      known(name);
      await registry.unload(name, force === undefined ? {} : { force });
      return { plugin: known(name) };
    });
}
