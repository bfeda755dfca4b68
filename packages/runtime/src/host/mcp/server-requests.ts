/**
 * What an MCP server may ask of the harness: a model's answer, its folders, a person's answer; and what it logs.
 *
 * Promise: a model is asked only within the plugin's permissions and in the name of the one call that is running, as a
 * child step of it; whatever is not granted is not announced, and refused in words that say so.
 */

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ChassisError, ErrorCode } from '@chassis/errors';
import type { ContextCalls } from '@chassis/sdk';
import type { Json, JsonObject } from '@chassis/types';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { mayCall } from '../callbacks.ts';
import type { HostOptions } from '../host.ts';

/** What the client announces that it can do for the server. */
export function capabilitiesOf({ entry }: HostOptions): JsonObject {
  const { permissions } = entry.source.manifest;
  return {
    ...(mayCall(permissions.methods, ['model.generate']) ? { sampling: {} } : {}),
    ...(rootsOf(entry.folder, permissions.fs).length > 0 ? { roots: {} } : {}),
  };
}

/** @param running the calls that are under way */
export function serveRequests(
  client: Client,
  options: HostOptions,
  running: () => readonly ContextCalls[],
): void {
  const { entry, log } = options;
  const { permissions } = entry.source.manifest;
  const capabilities = capabilitiesOf(options);
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) => {
    log(levelOf(level), typeof data === 'string' ? data : JSON.stringify(data ?? null));
  });
  client.fallbackRequestHandler = async ({ method }) => {
    const needs =
      method === 'sampling/createMessage'
        ? 'permissions.methods: [model.generate]'
        : method === 'roots/list'
          ? 'permissions.fs'
          : undefined;
    const why =
      needs === undefined ? 'this harness does not serve it' : `its manifest does not list ${needs}`;
    log('warn', `the server asked for ${method}, which is refused: ${why}`);
    throw new ProtocolError(ErrorCode.MethodNotFound, `${method} is refused: ${why}`);
  };
  if (capabilities.roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({ roots: rootsOf(entry.folder, permissions.fs) }));
  }
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler('sampling/createMessage', async ({ params }) => {
      const [call, ...more] = running();
      if (call === undefined || more.length > 0) {
        throw new ProtocolError(
          ErrorCode.InvalidRequest,
          `a model can be asked only while one call is running, and ${more.length + (call ? 1 : 0)} are`,
        );
      }
      return sampled(call, params as unknown as JsonObject);
    });
  }
}

/** Folders of the manifest's permissions, seen from the plugin's folder. */
function rootsOf(
  folder: string,
  { read, write }: { readonly read: readonly string[]; readonly write: readonly string[] },
) {
  return [...new Set([...read, ...write])].map((path) => ({
    uri: pathToFileURL(resolve(folder, path)).href,
    name: path,
  }));
}

async function sampled(call: ContextCalls, params: JsonObject) {
  const { systemPrompt, maxTokens, temperature, stopSequences } = params;
  const messages: JsonObject[] = (params.messages as JsonObject[]).map(({ role = 'user', content }) => ({
    role,
    content: textOf(content ?? null),
  }));
  if (typeof systemPrompt === 'string') messages.unshift({ role: 'system', content: systemPrompt });
  const answer = await call.call('model.generate', {
    messages,
    params: {
      ...(typeof maxTokens === 'number' ? { max_tokens: maxTokens } : {}),
      ...(typeof temperature === 'number' ? { temperature } : {}),
      ...(Array.isArray(stopSequences) ? { stop: stopSequences } : {}),
    },
  });
  const { response, error } = answer as {
    response?: { message: { content: string }; finish_reason: string; model?: string };
    error?: { code: number; message: string; data?: unknown };
  };
  if (response === undefined)
    throw ChassisError.from(error ?? { code: ErrorCode.ModelError, message: 'no answer' });
  return {
    role: 'assistant' as const,
    content: { type: 'text' as const, text: response.message.content },
    model: response.model ?? 'unknown',
    stopReason: response.finish_reason === 'length' ? 'maxTokens' : 'endTurn',
  };
}

/** @throws ProtocolError for what is no text: the harness's models take text only */
function textOf(content: Json): string {
  const parts = Array.isArray(content) ? content : [content];
  return parts
    .map((part) => {
      const { type, text } = (part ?? {}) as JsonObject;
      if (type === 'text' && typeof text === 'string') return text;
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `a message with a part of type ${JSON.stringify(type ?? null)} cannot be sent`,
      );
    })
    .join('\n');
}

function levelOf(level: string): 'debug' | 'info' | 'warn' | 'error' {
  if (level === 'debug') return 'debug';
  if (level === 'warning') return 'warn';
  return /^(?:error|critical|alert|emergency)$/.test(level) ? 'error' : 'info';
}
