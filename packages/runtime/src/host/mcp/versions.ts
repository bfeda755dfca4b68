/** The versions of MCP that are spoken here, and the agreement on one of them. */
import { ChassisError } from '@chassis/errors';
import { type Client, ProtocolError, type Transport } from '@modelcontextprotocol/client';
import { PhaseError } from '../host.ts';
import type { RawResults } from './raw-results.ts';

/** Newest first. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const MODERN = '2026-07-28';

/**
 * How a server is greeted. `ask` with `server/discover` first; `old` with `initialize` at once, for those that do not survive
 * or never answer a question they do not know; `new` for those that refused `initialize`.
 */
export type Greeting = 'ask' | 'old' | 'new';

/** The client's option for a greeting. */
export function negotiation(greeting: Greeting, patienceMs: number) {
  if (greeting === 'old') return { mode: 'legacy' as const };
  if (greeting === 'new') return { mode: { pin: MODERN } };
  return { mode: 'auto' as const, probe: { timeoutMs: patienceMs } };
}

/** Which greeting a server may understand that did not understand the one it got; undefined when there is none. */
export function nextGreeting(
  greeting: Greeting,
  error: unknown,
  raw: RawResults,
  ended: boolean,
): Greeting | undefined {
  if (greeting === 'ask' && ended && raw.initialized === undefined) return 'old';
  if (greeting === 'ask' && raw.discovered && error instanceof ProtocolError) return 'new';
  return undefined;
}

/** @throws PhaseError naming the version when client and server have none in common; else what the connection throws */
export async function agree(
  client: Client,
  transport: Transport,
  raw: RawResults,
  plugin: string,
  timeout: number,
): Promise<void> {
  try {
    await client.connect(transport, { timeout });
  } catch (error) {
    const problem = raw.initialized === undefined ? undefined : versionProblem(raw.initialized.version);
    if (problem === undefined) throw error;
    throw new PhaseError(
      'on_load',
      new ChassisError('Unavailable', `plugin ${plugin}: ${problem}`),
      'use a version of the server that speaks one of them',
    );
  }
}

function versionProblem(version: unknown): string | undefined {
  if (typeof version !== 'string') {
    return 'the server did not say which version of MCP it speaks: protocolVersion is missing';
  }
  if (MCP_VERSIONS.includes(version)) return undefined;
  return `the server speaks MCP ${version}, which is none of ${MCP_VERSIONS.join(', ')}`;
}
