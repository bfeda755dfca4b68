/** `chassis log`: the events of a session as they were recorded, one a line. */
import { type Event, type Problem, parseJson, type UnknownEvent } from '@chassis/journal';
import { usage } from '../failure.ts';
import { eventText } from '../present/event.ts';
import { problemLine } from '../present/problem.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { type Opened, openAddress } from '../sessions.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { visible } from '../terminal/text.ts';

interface Options {
  readonly follow?: true;
  readonly from?: string;
  readonly to?: string;
  readonly last?: string;
  readonly raw?: true;
}

export async function log({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  const given = { ...bound('from', options.from), ...bound('to', options.to) };
  const last = bound('last', options.last).last;
  if (last !== undefined && (options.from ?? options.to) !== undefined)
    throw usage('--last counts from the end: leave --from and --to out');
  const opened = await openAddress(text, globals);
  const range =
    last === undefined ? given : { from: Math.max(0, (await opened.reader.lastSeq()) - last + 1) };
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  out.closed.addEventListener('abort', interrupt);
  const following = options.follow === true ? follow(opened, interrupt) : undefined;
  const width = screenWidth();
  let events = 0;
  const found: Problem[] = [];
  const plain = options.raw !== true && !out.json;
  const damaged = (problem: Problem): void => {
    // Half a line at the end of a log that is being written is none.
    if (problem.kind === 'torn') return;
    found.push(problem);
    if (plain) out.line(paint('yellow', `    ✗  ${problemLine(problem)}`));
  };
  try {
    for await (const line of opened.reader.lines({
      ...range,
      ...(following === undefined ? {} : { follow: true, signal: stop.signal }),
      damaged,
    })) {
      events++;
      following?.saw(line);
      if (!plain) out.raw(line);
      else for (const shown of eventText(parsed(line), width)) out.line(shown);
      await out.drained();
      if (stop.signal.aborted) break;
    }
  } finally {
    following?.end();
    await opened.close();
  }
  if (found.length > 0)
    out.note(
      `${found.length === 1 ? 'a part' : `${found.length} parts`} of the record cannot be read (chassis verify ${visible(opened.name)})`,
    );
  return {
    result: { session: opened.reader.id, events, ...(found.length === 0 ? {} : { problems: found }) },
  };
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
    if (summary?.outcome !== 'running' && (await opened.reader.lastSeq()) <= before) stop();
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

function bound<N extends 'from' | 'to' | 'last'>(name: N, text: string | undefined): { [K in N]?: number } {
  if (text === undefined) return {};
  if (!/^\d+$/.test(text))
    throw usage(
      `--${name} ${text}: it is ${name === 'last' ? 'how many events' : 'the seq of an event'}, a whole number`,
    );
  return { [name]: Number(text) } as { [K in N]?: number };
}

function parsed(line: string): Event | UnknownEvent | string {
  try {
    return parseJson(line) as unknown as Event | UnknownEvent;
  } catch {
    return line;
  }
}
