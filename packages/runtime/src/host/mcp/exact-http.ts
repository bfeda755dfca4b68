/**
 * Numbers as they were written, past a client that reads its answers with `JSON.parse`.
 *
 * Promise: a number that a double cannot hold travels through the client as a marked text and is a number again behind
 * it; the mark is new in every process, so that no data can be taken for it. Answers without such numbers are not
 * touched.
 */
import { isRawNumber, parseExact } from '@chassis/jsonrpc';

/** Long enough that a double may change it. */
const LONG_NUMBER = /[0-9][0-9.eE+-]{15}/;
const MARK = `${crypto.randomUUID()}:`;

/** An answer of a server in which such numbers are marked. */
export async function marked(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || response.body === null) return response;
  if (type.startsWith('application/json')) return again(response, markedText(await response.text()));
  if (!type.startsWith('text/event-stream')) return response;
  const lines = response.body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(byLine())
    .pipeThrough(new TextEncoderStream());
  return again(response, lines);
}

/** The value with its numbers back. */
export function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? parseExact(value.slice(MARK.length)) : value;
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unmarked(member)]));
}

function again(response: Response, body: ConstructorParameters<typeof Response>[0]): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.delete('content-encoding');
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

function markedText(text: string): string {
  if (!LONG_NUMBER.test(text)) return text;
  try {
    return JSON.stringify(parseExact(text), (_key, value: unknown) =>
      isRawNumber(value) ? `${MARK}${value.rawJSON}` : value,
    );
  } catch {
    return text; // the client says what is wrong with it
  }
}

/** Every event of a stream carries one JSON text on one line. */
function byLine(): TransformStream<string, string> {
  let rest = '';
  return new TransformStream({
    transform(chunk, out) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) out.enqueue(`${markedLine(line)}\n`);
    },
    flush(out) {
      if (rest !== '') out.enqueue(markedLine(rest));
    },
  });
}

function markedLine(line: string): string {
  const data = /^data: ?/.exec(line)?.[0];
  return data === undefined ? line : `${data}${markedText(line.slice(data.length))}`;
}
