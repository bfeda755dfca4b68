/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as far as messages need them.
 *
 * Promise: reading is incremental and linear; one event carries one JSON text; of one that is too long nothing is kept.
 */

/** One event with a JSON text; the text has no line ends of its own. @param id numbers the events of a session */
export function eventOf(text: string, id: number): string {
  return `id: ${id}\ndata: ${text}\n\n`;
}

/** What keeps a stream alive on which nothing happens. */
export const heartbeat = ': \n\n';

/**
 * Takes the data and id of an event. No data: it was longer than the limit. A promise is waited for before more is read.
 */
type Take = (data: string | undefined, id: string) => Promise<void> | undefined;

/**
 * Calls `take` for every event in a body, until it ends.
 *
 * @param limit longest data in UTF-16 units
 * @throws TypeError for invalid UTF-8
 */
export async function readEvents(body: AsyncIterable<Uint8Array>, limit: number, take: Take): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const event = new OpenEvent(limit);
  /** The line that has begun. */
  let rest: string[] = [];
  let restLength = 0;
  const longest = limit + 'data: \r'.length;
  for await (const chunk of body) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    for (const [at, piece] of lines.entries()) {
      rest.push(piece);
      restLength += piece.length;
      const tooLong = restLength > longest;
      if (tooLong) {
        event.tooLong = true;
        rest = [];
      }
      if (at === lines.length - 1) break;
      const line = rest.join('');
      rest = [];
      restLength = 0;
      if (tooLong || !event.line(line.endsWith('\r') ? line.slice(0, -1) : line)) continue;
      const wait = take(event.tooLong ? undefined : event.data, event.id);
      event.clear();
      if (wait) await wait;
    }
  }
}

/** The event whose lines are being read. */
class OpenEvent {
  id = '';
  tooLong = false;
  readonly #limit: number;
  #data: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get data(): string {
    return this.#data.join('\n');
  }

  /** True at the line that ends an event. */
  line(line: string): boolean {
    if (line === '') return this.tooLong || this.#data.length > 0;
    if (line.startsWith('id:')) this.id = line.slice(3).trim();
    if (!line.startsWith('data:')) return false;
    const data = line.slice(line[5] === ' ' ? 6 : 5);
    this.#length += data.length + 1;
    if (this.#length > this.#limit + 1) this.tooLong = true;
    if (this.tooLong) this.#data = [];
    else this.#data.push(data);
    return false;
  }

  clear(): void {
    this.id = '';
    this.tooLong = false;
    this.#data = [];
    this.#length = 0;
  }
}
