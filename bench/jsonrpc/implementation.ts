/**
 * What the benchmark needs from a JSON-RPC implementation: an echo server and a client, on a pair of streams.
 */
import type { Readable, Writable } from 'node:stream';

export interface Client {
  /** Calls `echo` and gives its result. */
  echo(params: object): Promise<unknown>;
  /** One batch of `echo` calls; absent if the library cannot send batches. */
  batch?(params: readonly object[]): Promise<unknown>;
}

export interface Implementation {
  readonly name: string;
  /** Serves `echo`. */
  serve(readable: Readable, writable: Writable): unknown;
  client(readable: Readable, writable: Writable): Client | Promise<Client>;
}

/** Name of an implementation → its module, loaded only when it is measured. */
const modules: Record<string, () => Promise<Implementation>> = {
  floor: async () => (await import('./implementations/floor.ts')).floor,
  'floor-again': async () => (await import('./implementations/floor.ts?again' as string)).floor,
  chassis: async () => (await import('./implementations/chassis.ts')).ndjson,
  'chassis-content-length': async () => (await import('./implementations/chassis.ts')).contentLength,
  'json-rpc-2.0': async () => (await import('./implementations/json-rpc-2.0.ts')).jsonRpc2,
  jayson: async () => (await import('./implementations/jayson.ts')).jayson5,
  'vscode-jsonrpc': async () => (await import('./implementations/vscode-jsonrpc.ts')).vscode,
  'mcp-v1': async () => (await import('./implementations/mcp-v1.ts')).mcpV1,
  'mcp-v2': async () => (await import('./implementations/mcp-v2.ts')).mcpV2,
  acp: async () => (await import('./implementations/acp.ts')).acp,
};

export const names = Object.keys(modules);

export async function implementation(name: string): Promise<Implementation> {
  const load = modules[name];
  if (!load) throw new Error(`no implementation "${name}"; there are ${names.join(', ')}`);
  return load();
}
