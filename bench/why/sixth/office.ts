/** What all runs of the sixth set share: people, companies, and the other work that an office agent does in between. */
import type { JsonObject } from '../../../packages/types/src/index.ts';
import {
  ask,
  fail,
  isError,
  type Loose,
  type ScenarioTool,
  type Talk,
  type Told,
  type World,
} from '../world.ts';

const first = 'Anna Marcus Priya Tomasz Leila Jonas Grace Hiroshi Elena Samuel Nadia Oliver'.split(' ');
const last = 'Keller Osei Raman Nowak Haddad Lindqvist Moreau Tanaka Petrova Adeyemi Costa Byrne'.split(' ');
const firms = 'Northwind Brightline Halden Corvus Meridian Oakhurst Solvang Tessera'.split(' ');

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly firm: string;
}

export function person(w: World): Person {
  const [given, family, firm] = [w.pick(first), w.pick(last), w.pick(firms)];
  const email = `${given}.${family}@${firm}.example`.toLowerCase();
  return { name: `${given} ${family}`, email, firm: `${firm} ${w.pick(['GmbH', 'Ltd', 'Inc.', 'AB'])}` };
}

export const hex = (w: World, length = 8): string =>
  Array.from({ length }, () => w.int(0, 15).toString(16)).join('');

export const day = (w: World): string =>
  `2026-${String(w.int(1, 12)).padStart(2, '0')}-${String(w.int(13, 28))}`;

export interface Office {
  readonly tools: { readonly [name: string]: ScenarioTool };
  readonly patience: number;
  /** Other work, over the distance of the run; a call that fails for a moment is made again. */
  readonly other: () => Talk<void>;
}

/** Mail, CRM, web or calendar work. In some runs the service is away once and the second try succeeds. */
export function office(w: World, atLeast = 1): Office {
  const kind = w.pick(['search_mail', 'crm_search_contacts', 'web_search', 'calendar_list_events']);
  const away = w.random() < 0.4 ? w.int(1, 3) : 0;
  let called = 0;
  const tool: ScenarioTool = {
    description: 'Reads; changes nothing.',
    run: ({ query }) => {
      if (++called === away) fail('503 Service Unavailable (upstream connect error)', 'Unavailable');
      return found(w, kind, String(query));
    },
  };
  return {
    tools: { [kind]: tool },
    patience: Math.max(atLeast, away > 0 ? 3 : 1),
    *other() {
      for (let done = 0; done < w.distance; done += 2) {
        const input: JsonObject = { query: `${w.word()} ${w.word()}`, limit: 5 };
        if (isError(yield* ask(kind, input))) yield* ask(kind, input);
      }
    },
  };
}

function found(w: World, kind: string, query: string): Loose {
  const rows = Array.from({ length: w.int(0, 3) }, () => person(w));
  if (kind === 'search_mail')
    return {
      resultSizeEstimate: rows.length,
      messages: rows.map(({ name, email }) => ({
        id: hex(w, 16),
        from: `${name} <${email}>`,
        subject: `Re: ${query}`,
        snippet: `Thanks, let us talk about ${w.word()} next week.`,
      })),
    };
  if (kind === 'crm_search_contacts')
    return {
      total: rows.length,
      results: rows.map(({ name, email, firm }) => ({
        id: String(w.int(10_000, 99_999)),
        properties: { fullname: name, email, company: firm },
      })),
    };
  if (kind === 'web_search')
    return {
      results: rows.map(() => ({
        title: `${query} | ${w.word()}`,
        url: `https://www.${w.word()}.example/${w.word()}`,
        snippet: `An overview of ${w.word()} and ${w.word()}.`,
      })),
    };
  return {
    kind: 'calendar#events',
    items: rows.map(({ email }) => ({
      id: hex(w, 12),
      summary: query,
      start: { dateTime: `${day(w)}T09:00:00Z` },
      attendees: [{ email }],
    })),
  };
}

/** A run: the task, its own tools beside the office's, and the conversation. */
export function told(
  task: string,
  { tools, patience }: Office,
  own: { readonly [name: string]: ScenarioTool },
  talk: () => Talk,
): Told {
  return { task, tools: { ...tools, ...own }, patience, talk };
}
