/**
 * Reads a body as server-sent events.
 *
 * Promise: bytes may be cut anywhere (inside a character, between CR and LF); comments are skipped; the last
 * event counts although its blank line is missing; memory stays bounded.
 */
import { createParser } from 'eventsource-parser';
import type { Dispatcher } from 'undici';

type Body = Dispatcher.ResponseData['body'];

/** Most characters of one event. */
const MAX_EVENT = 16 * 1024 * 1024;
/** How long a provider may keep the connection after its last event before it is closed. */
const LINGER_MS = 1000;

/**
 * @param onData gets each event's data, and answers whether to read on
 * @returns when the body ended or `onData` stopped it; what the network or `onData` throws is thrown
 */
export function readEvents(body: Body, onData: (data: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const fail = (error: unknown): void => {
      settled = true;
      reject(error instanceof Error ? error : new Error(String(error)));
      body.destroy();
    };
    const parser = createParser({
      maxBufferSize: MAX_EVENT,
      onEvent: ({ data }) => {
        if (settled || onData(data)) return;
        settled = true;
        resolve();
        // Reading on to the end lets the connection be used again; destroying it would not.
        setTimeout(() => body.destroy(), LINGER_MS).unref();
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') throw error;
      },
    });
    const decoder = new TextDecoder();
    const feed = (text: string): void => {
      if (settled) return;
      try {
        parser.feed(text);
      } catch (error) {
        fail(error);
      }
    };
    body.on('data', (piece: Buffer) => feed(decoder.decode(piece, { stream: true })));
    body.on('error', (error) => {
      if (!settled) fail(error);
    });
    body.on('end', () => {
      feed(`${decoder.decode()}\n\n`);
      if (!settled) resolve();
    });
  });
}

/** Reads a body as text, up to a limit. */
export async function readText(body: Body, limit: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  // Leaving the loop early breaks the transfer off, which is no error to anybody.
  body.on('error', () => {});
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= limit) break;
  }
  return Buffer.concat(pieces).subarray(0, limit).toString('utf8');
}
