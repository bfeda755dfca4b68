/**
 * Unix and TCP sockets.
 *
 * Promise: a client that has sent everything may close its sending side and still gets its answers; a socket file
 * left behind by a dead process is replaced, one that is in use never.
 */
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Transport } from '../transport.ts';
import { type StreamOptions, StreamTransport } from './stream.ts';

/** A Unix socket by its path, or a TCP address; port 0 when listening: any free one. */
export type SocketAddress =
  | { readonly path: string }
  | { readonly port: number; readonly host?: string | undefined };

export interface Listener {
  /** Where it listens, with the port that was chosen. */
  readonly address: SocketAddress;
  /** Stops accepting, at once. Connections that are open stay open. */
  close(): Promise<void>;
}

const net = () => process.getBuiltinModule('node:net');
const loopback = '127.0.0.1';

/** A transport over a connected socket. */
export function socketTransport(socket: Socket, options?: StreamOptions): Transport {
  socket.setNoDelay(true);
  socket.on('error', () => {}); // one that breaks before its peer is there must not end the process
  return new StreamTransport(socket, socket, options);
}

/**
 * Connects to a socket; a TCP address without host is on this machine.
 *
 * @throws the system's error (`ECONNREFUSED`, `ENOENT`, …)
 */
export async function connectSocket(address: SocketAddress, options?: StreamOptions): Promise<Transport> {
  const socket = net().connect(
    'path' in address
      ? { path: address.path, allowHalfOpen: true }
      : { host: address.host ?? loopback, port: address.port, allowHalfOpen: true },
  );
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socketTransport(socket, options);
}

/**
 * Listens on a Unix or TCP socket. A socket file is for this user only.
 *
 * @param accept called with a transport for every connection; make a `Peer` of it
 * @throws the system's error (`EADDRINUSE`, `EACCES`, …)
 */
export async function listen(
  address: SocketAddress,
  accept: (transport: Transport, socket: Socket) => void,
  options?: StreamOptions,
): Promise<Listener> {
  const server = net().createServer({ allowHalfOpen: true }, (socket) =>
    accept(socketTransport(socket, options), socket),
  );
  if ('path' in address) {
    await removeDeadSocket(address.path);
    await bound(server, { path: address.path });
    process.getBuiltinModule('node:fs').chmodSync(address.path, 0o600);
  } else await bound(server, { host: address.host ?? loopback, port: address.port });
  server.on('error', () => {}); // one connection that could not be accepted must not end the process
  const where = server.address() as AddressInfo | string;
  return {
    address: typeof where === 'string' ? { path: where } : { host: where.address, port: where.port },
    close: async () => {
      server.close();
    },
  };
}

function bound(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** A file whose socket nobody answers is left over; anything else is none of our business. */
async function removeDeadSocket(path: string): Promise<void> {
  const fs = process.getBuiltinModule('node:fs');
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const dead = await new Promise<boolean>((resolve) => {
    const probe = net().connect({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
  if (dead) fs.unlinkSync(path);
}
