/** Work that has nothing to do with a fault: odd here and there, and healthy. */
import { type Call, fail, type Loose, type ScenarioTool } from '../world.ts';

/** The calls of turn `n`: no two turns ask the same, but where one asks until a job is done. */
export function sideCalls(n: number): readonly Call[] {
  switch (n % 11) {
    case 0:
      return [{ tool: 'grep_repo', input: { pattern: `legacy_flag_${n}`, path: 'lib/' } }];
    case 1:
      return [{ tool: 'inbox_search', input: { q: `newsletter ${n}`, limit: 5 } }];
    case 2:
      return [
        { tool: 'http_get', input: { url: `https://intranet.test/news/${n}` } },
        { tool: 'fx_rate', input: { pair: 'EURSEK', day: n % 365 } },
        { tool: 'sql_readonly', input: { query: `SELECT id, note FROM memo WHERE week = ${n}` } },
      ];
    case 3:
      return [{ tool: 'cal_day', input: { day_of_year: n } }];
    case 4:
      return [{ tool: 'crawl_feed', input: { feed: `feed-${n}` } }];
    case 5:
      return [{ tool: 'daily_digest', input: { number: n } }];
    case 6:
      return [{ tool: 'cluster_events', input: { namespace: `team-${n}` } }];
    case 7:
      return [{ tool: 'commit_log', input: { since: `v0.${n}` } }];
    case 8:
      return [{ tool: 'tail_syslog', input: { host: `edge-${n}` } }];
    case 9:
      return [{ tool: 'web_search', input: { q: `opening hours of library ${n}` } }];
    default:
      return [
        { tool: 'translate', input: { text: `Seite ${n}`, to: 'sv' } },
        { tool: 'cal_day', input: { day_of_year: n } },
      ];
  }
}

/** A step of a tool's own: recorded under the tool's, and answered with its status. */
export async function callInside(
  ctx: Parameters<ScenarioTool['run']>[1],
  name: string,
  input: Loose,
): Promise<{ readonly status: string; readonly output?: Loose }> {
  return (await ctx.call('tool.call', { name, arguments: input })) as Loose;
}

/** Fresh tools for one run. */
export function sideTools(): { readonly [name: string]: ScenarioTool } {
  const asked = new Set<string>();
  return {
    grep_repo: {
      effects: 'read',
      // No match is exit code 1, as grep has it.
      run: ({ pattern }) =>
        Number(String(pattern).slice(-1)) % 2 === 0
          ? { stdout: '', stderr: '', exit_code: 1 }
          : {
              stdout: `lib/old.rb:12:  # ${pattern} goes away\nlib/old.rb:48:  error_count += 1\n`,
              stderr: '',
              exit_code: 0,
            },
    },
    inbox_search: {
      effects: 'read',
      run: ({ q }) => ({
        messages: [
          {
            id: `m${String(q).length}${String(q).slice(-2)}`,
            from: 'news@paper.test',
            subject: `Re: Fwd: ${q} …`,
            unread: false,
          },
        ],
        nextPageToken: null,
      }),
    },
    http_get: {
      effects: 'read',
      run: ({ url }) =>
        `<!doctype html><html lang="de"><head><title>Neues</title></head><body><h1>${url}</h1><p>Umsatz 1.204,50 € im Haus; keine Fehler.</p></body></html>`,
    },
    fx_rate: {
      effects: 'read',
      run: ({ pair, day }) => ({ pair, mid: 11 + (Number(day) % 90) / 100, source: 'fixing', final: true }),
    },
    sql_readonly: {
      effects: 'read',
      run: ({ query }) => ({
        columns: ['id', 'note'],
        rows: String(query).length % 3 === 0 ? [] : [[String(query).length, null]],
        elapsed: '0.004s',
      }),
    },
    cal_day: {
      effects: 'read',
      run: ({ day_of_year: day }) => ({
        day,
        tz: 'Europe/Stockholm',
        busy: Number(day) % 2 ? [] : [{ from: '09:30', to: '10:00', title: 'Stand-up', declined: ['Bo'] }],
      }),
    },
    crawl_feed: {
      effects: 'read',
      run: ({ feed }) => {
        if (!asked.has(feed) && Number(String(feed).slice(-1)) % 2 === 0) {
          asked.add(feed);
          return fail('503 Service Unavailable (retry-after: 1)', 'Unavailable');
        }
        return { feed, entries: [{ title: `Issue of ${feed}`, words: 410 }], skipped: 0 };
      },
    },
    // Two steps of its own, both on record under this one.
    daily_digest: {
      effects: 'read',
      run: async ({ number }, ctx) => {
        const rate = await callInside(ctx, 'fx_rate', { pair: 'USDNOK', day: number });
        const day = await callInside(ctx, 'cal_day', { day_of_year: number });
        return { number, rate: rate.output, day: day.output };
      },
    },
    cluster_events: {
      effects: 'read',
      run: ({ namespace }) => ({
        kind: 'EventList',
        metadata: { continue: '', remainingItemCount: 0 },
        items: [
          {
            type: 'Normal',
            reason: 'Pulled',
            involvedObject: { kind: 'Pod', namespace },
            message: 'Container image already present on machine',
          },
        ],
      }),
    },
    commit_log: {
      effects: 'read',
      run: ({ since }) =>
        `* 4e1f0c9 ${since}: fix flaky retry test\n* 9ab3d27 docs: say what a timeout means\n* 0c77aa1 revert "cache the index"\n`,
    },
    // The last lines were asked for, and the first hit is enough: that there is more is as it should be.
    tail_syslog: {
      effects: 'read',
      run: ({ host }) =>
        `[showing last 3 of ${String(host).length * 411} lines]\nMar 02 06:25:01 ${host} CRON[811]: session opened\nMar 02 06:25:01 ${host} CRON[811]: session closed\nMar 02 06:26:40 ${host} ntpd: offset 0.002 s\n`,
    },
    web_search: {
      effects: 'read',
      run: ({ q }) => ({
        hits: [
          {
            title: q,
            snippet: 'Open Monday to Friday, 9 am to …',
            url: `https://find.test/${String(q).length}`,
          },
        ],
        has_more: true,
      }),
    },
    translate: { effects: 'read', run: ({ text, to }) => ({ to, text: `${text} (sida)`, confidence: 0.93 }) },
  };
}
