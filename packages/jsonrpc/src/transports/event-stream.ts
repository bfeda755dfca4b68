/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as messages need them.
 *
 * Promise: reading is incremental and linear; one event carries one JSON text.
 */

/** One event with a JSON text; the text has no line ends of its own. @param id numbers the events of a session */
export function eventOf(text: string, id: number): string {
  return `id: ${id}\ndata: ${text}\n\n`;
}

/** Calls `take` with data and id of every event in a body, until it ends. */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  take: (data: string, id: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let id = '';
  for await (const chunk of body) {
    const piece = decoder.decode(chunk, { stream: true });
    if (!piece.includes('\n')) {
      rest += piece;
      continue;
    }
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line.startsWith('id:')) id = line.slice(3).trim();
      else if (line === '' && data.length > 0) {
        take(data.join('\n'), id);
        data = [];
        id = '';
      }
    }
  }
}
