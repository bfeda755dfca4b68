/** `chassis log`: the events of a session as they were recorded, one a line. */
import { type Event, parseJson, type UnknownEvent } from '@chassis/journal';
import { usage } from '../failure.ts';
import { eventText } from '../present/event.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { type Opened, openAddress } from '../sessions.ts';
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
  out.closed.addEventListener('abort', interrupt);
  const following = options.follow === true ? follow(opened, interrupt) : undefined;
  const width = screenWidth();
  let events = 0;
  try {
    for await (const line of opened.reader.lines({
      ...range,
      ...(following === undefined ? {} : { follow: true, signal: stop.signal }),
    })) {
      events++;
      following?.saw(line);
      if (options.raw === true || out.json) out.raw(line);
      else for (const shown of eventText(parsed(line), width)) out.line(shown);
      await out.drained();
      if (stop.signal.aborted) break;
    }
  } finally {
    following?.end();
    await opened.close();
  }
  return { result: { session: opened.reader.id, events } };
}

/** How often it is asked whether anybody still writes to a session that has fallen silent. */
const SILENCE_MS = 500;

/** Ends the waiting when everything is shown and nobody writes to the session any more, or with Ctrl-C. */
function follow(opened: Opened, stop: () => void): { saw(line: string): void; end(): void } {
  let seq = -1;
  let asking = false;
  const ask = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const before = seq;
    const summary = await opened.summary();
    if (summary?.outcome !== 'running' && (await opened.reader.view()).lastSeq <= before) stop();
    asking = false;
  };
  const timer = setInterval(() => void ask().catch(stop), SILENCE_MS);
  process.on('SIGINT', stop);
  return {
    saw(line) {
      const event = parsed(line);
      if (typeof event !== 'string') seq = event.seq;
      timer.refresh();
    },
    end() {
      clearInterval(timer);
      process.off('SIGINT', stop);
    },
  };
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
