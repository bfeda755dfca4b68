/** `chassis rpc`: one JSON-RPC call to a server that runs, or to a program that is started for it. */
import { ChassisError, ErrorCode } from '@chassis/errors';
import { parseJson } from '@chassis/journal';
import { connect, Peer, RpcError, type Transport } from '@chassis/jsonrpc';
import type { Json } from '@chassis/types';
import { usage } from '../failure.ts';
import { fullValue } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';

export async function rpc({
  args: [address = '', method = '', text],
  options,
  globals,
  out,
}: Call<{ timeout?: string }>): Promise<Ending> {
  const params = paramsOf(text);
  const timeoutMs = timeoutOf(options.timeout);
  const transport = await opened(address);
  const peer = new Peer(transport, {
    timeoutMs,
    log: ({ level, message }) => {
      if (level !== 'debug' || globals.debug) out.note(visible(message));
    },
  });
  try {
    const result = (await peer.call(method, params, { exact: true })) as Json;
    out.line(fullValue(result ?? null));
    return { result: { method, result } };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const where = error.code === ErrorCode.Unavailable ? `${address}: ` : '';
    throw new ChassisError(error.code, `${where}${error.message}`, { data: error.data, cause: error });
  } finally {
    await peer.close();
  }
}

function paramsOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    throw usage(`PARAMS is no JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null) return value;
  throw usage('PARAMS must be a JSON object or array');
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return 60_000;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw usage(`--timeout ${text}: it must be milliseconds, a whole number above 0`);
}

async function opened(address: string): Promise<Transport> {
  try {
    return await connect(address);
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message);
    throw new ChassisError('Unavailable', `${address}: ${(error as Error).message}`, { cause: error });
  }
}
