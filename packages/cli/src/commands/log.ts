/** `chassis log`: the events of a session as they were recorded, one a line. */
import { type Event, parseJson, type UnknownEvent } from '@chassis/journal';
import { usage } from '../failure.ts';
import { eventText } from '../present/event.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress } from '../sessions.ts';
import { screenWidth } from '../terminal/screen.ts';

interface Options {
  readonly follow?: true;
  readonly from?: string;
  readonly to?: string;
  readonly raw?: true;
}

export async function log({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  const range = { ...bound('from', options.from), ...bound('to', options.to) };
  const opened = await openAddress(text, globals);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  if (options.follow === true) process.on('SIGINT', interrupt);
  out.closed.addEventListener('abort', interrupt);
  const width = screenWidth();
  let events = 0;
  for await (const line of opened.reader.lines({
    ...range,
    ...(options.follow === true ? { follow: true, signal: stop.signal } : {}),
  })) {
    events++;
    if (options.raw === true || out.json) out.raw(line);
    else for (const shown of eventText(parsed(line), width)) out.line(shown);
    await out.drained();
    if (stop.signal.aborted) break;
    if (options.follow === true && isEnd(line)) break;
  }
  process.off('SIGINT', interrupt);
  await opened.close();
  return { result: { session: opened.reader.id, events } };
}

function bound(name: 'from' | 'to', text: string | undefined): { from?: number; to?: number } {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw usage(`--${name} ${text}: it is the seq of an event, a whole number`);
  return { [name]: Number(text) };
}

function parsed(line: string): Event | UnknownEvent | string {
  try {
    return parseJson(line) as unknown as Event | UnknownEvent;
  } catch {
    return line;
  }
}

/** The end of a turn ends the waiting, too: nothing more comes unless somebody goes on with the session. */
function isEnd(line: string): boolean {
  const event = parsed(line);
  return typeof event !== 'string' && event.type === 'session.ended';
}
