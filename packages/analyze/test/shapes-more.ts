/** A third set of seeded failures: parallel calls, nested results, providers' own ways of saying no. */
import { failure, invalid, type Story } from './build.ts';
import { pad, type Shape, shape, word } from './shapes.ts';

const refused = (message: string): { error: ReturnType<typeof failure> } => ({
  error: failure('ToolError', 1, message),
});

/** Two calls in one answer, as agents that work in parallel make them. */
function pair(
  story: Story,
  tool: string,
  inputs: readonly [object, object],
  outputs: readonly [object, object],
): [number, number] {
  story.model(inputs.map((input) => ({ tool, input: input as never })));
  return [story.tool(0, { output: outputs[0] as never }), story.tool(1, { output: outputs[1] as never })];
}

export const shapesMore: readonly Shape[] = [
  shape('truncation', 'a search shows 20 of 340 matches', (story, broken, distance, seed) => {
    const truth = story.call(
      'grep',
      { pattern: `def ${word(seed)}` },
      { matches: [`a.py:1: def ${word(seed)}_one`], shown: broken ? 20 : 1, total: broken ? 340 : 1 },
    );
    pad(story, distance, seed);
    story.call(
      'rename_symbol',
      { symbol: `${word(seed)}_two` },
      broken ? refused(`symbol ${word(seed)}_two is not defined`) : { renamed: 1 },
    );
    return truth;
  }),
  shape('truncation', 'only the head of a result reached the model', (story, broken, distance, seed) => {
    const output = { readme: `Install it. `.repeat(30), port: 8000 + seed };
    story.model([{ tool: 'fetch_docs', input: { topic: word(seed) } }]);
    const truth = story.tool(
      0,
      broken ? { output, message: JSON.stringify(output).slice(0, 120) } : { output },
    );
    pad(story, distance, seed);
    story.call(
      'connect',
      { port: broken ? 5432 : 8000 + seed },
      broken ? refused('connection refused on port 5432') : { ok: true },
    );
    return truth;
  }),
  shape(
    'wrong locale',
    'one of two parallel results has spaces and commas',
    (story, broken, distance, seed) => {
      const steps = [1, 2, 3].flatMap((month) =>
        pair(
          story,
          'revenue',
          [
            { month, region: 'north' },
            { month, region: 'south' },
          ],
          [
            { revenue: 1000.5 + month },
            { revenue: broken && month === 2 ? `2 ${300 + seed},75` : 2000.25 + month },
          ],
        ),
      );
      pad(story, distance, seed);
      const values = [1001.5, 2001.25, 1002.5, broken ? `2 ${300 + seed},75` : 2002.25, 1003.5, 2003.25];
      story.call(
        'chart',
        { series: { values } },
        broken
          ? { error: invalid({ path: '/series/values/3', expected: 'number', received: 'string' }) }
          : { ok: true },
      );
      return steps[3] ?? 0;
    },
  ),
  shape('stale read', 'an old page of a document', (story, broken, distance, seed) => {
    const doc = `doc-${word(seed)}-${seed}`;
    const truth = story.call('get_doc', { doc }, { doc, revision: broken ? 4 : 6, text: 'the fee is 12' });
    pad(story, distance, seed);
    story.call('doc_info', { doc }, { doc, revision: 6 });
    story.call(
      'comment',
      { doc, quote: 'the fee is 12' },
      broken ? refused('the quoted text "the fee is 12" does not occur in the document') : { ok: true },
    );
    return truth;
  }),
  shape('wrong tool result', 'the geocoder found another city', (story, broken, distance, seed) => {
    const truth = story.call(
      'geocode',
      { city: 'Frankfurt (Oder)' },
      {
        place: {
          city: broken ? 'Frankfurt am Main' : 'Frankfurt (Oder)',
          lat: broken ? 50.1109 + seed / 1000 : 52.3471,
        },
      },
    );
    pad(story, distance, seed);
    story.call(
      'find_stops',
      { lat: broken ? 50.1109 + seed / 1000 : 52.3471 },
      broken ? refused('outside of the network') : { stops: 3 },
    );
    return truth;
  }),
  shape('fabricated value', 'a flag that the program does not have', (story, broken, distance, seed) => {
    story.call(
      'shell',
      { command: 'tool --help' },
      { exit_code: 0, stdout: 'usage: tool [--fast] [--verbose]', stderr: '' },
    );
    pad(story, distance, seed);
    story.call(
      'shell',
      { command: broken ? `tool --turbo-${word(seed)}` : 'tool --fast' },
      broken ? refused(`unrecognized option '--turbo-${word(seed)}'`) : { exit_code: 0 },
    );
    return story.steps.length - 1;
  }),
  shape('fabricated value', 'a total that no result supports', (story, broken, distance, seed) => {
    story.call('get_lines', {}, { lines: [{ net: 100.25 }, { net: 200.5 }] });
    pad(story, distance, seed);
    story.call(
      'book_total',
      { total: broken ? 8123.75 + seed : 300.75 },
      broken ? refused(`total ${8123.75 + seed} does not match the lines`) : { ok: true },
    );
    return story.steps.length - 1;
  }),
  shape('loop', 'a search in other words with the same empty result', (story, broken, distance, seed) => {
    const truth = story.call('search', { q: `${word(seed)} price` }, { hits: broken ? [] : [1] });
    const rounds = broken ? 4 + Math.min(distance, 6) : 0;
    for (let round = 0; round < rounds; round++)
      story.call('search', { q: `${word(seed)} price ${'again '.repeat(round + 1).trim()}` }, { hits: [] });
    if (broken)
      story.step({
        kind: 'model',
        name: 'scripted',
        input: {},
        status: 'denied',
        causes: [story.steps.length],
        error: failure('BudgetExceeded', -32008, 'over 30 steps'),
      });
    return truth;
  }),
  shape('swallowed error', 'partial failure in a batch result', (story, broken, distance, seed) => {
    const id = `rec-${word(seed)}-${seed}`;
    const truth = story.call(
      'bulk_create',
      { ids: [id, 'rec-b'] },
      {
        results: [
          { id, status: broken ? 'failed' : 'created' },
          { id: 'rec-b', status: 'created' },
        ],
      },
    );
    pad(story, distance, seed);
    story.call('link', { from: id, to: 'rec-b' }, broken ? refused(`${id} does not exist`) : { ok: true });
    return truth;
  }),
  shape(
    'retry with changed payload',
    'a rate limit, then a shorter window',
    (story, broken, distance, seed) => {
      const query = { account: `acc-${word(seed)}`, from: '2026-01-01', to: '2026-03-31' };
      story.call(
        'statement',
        query,
        broken ? { error: failure('RateLimited', -32007, 'too many requests') } : { balance: 5 },
      );
      if (!broken) return 1;
      const truth = story.call('statement', { ...query, to: '2026-01-31' }, { balance: 2 });
      pad(story, distance, seed);
      story.call(
        'file_quarter',
        { account: query.account, balance: 2 },
        refused('the balance is not that of the quarter'),
      );
      return truth;
    },
  ),
  shape('late duplicate', 'a row was inserted twice', (story, broken, distance, seed) => {
    story.call('insert_row', { table: 'shipments', key: `S-${seed}-${word(seed)}` }, { inserted: 1 });
    if (!broken) return 1;
    pad(story, distance, seed);
    const truth = story.call(
      'insert_row',
      { table: 'shipments', key: `S-${seed}-${word(seed)}` },
      { inserted: 1 },
    );
    story.call('count_rows', { table: 'shipments' }, refused('expected 1 shipment, found 2'));
    return truth;
  }),
  shape('missing permission', 'a token without the scope', (story, broken, distance, seed) => {
    const truth = story.call(
      'list_repos',
      { org: word(seed) },
      broken
        ? { message: 'Resource not accessible by integration', status: '403' }
        : { repos: ['alpha-core'] },
    );
    pad(story, distance, seed);
    story.call(
      'open_issue',
      { repo: broken ? `${word(seed)}-main` : 'alpha-core' },
      broken ? refused(`no repository named ${word(seed)}-main`) : { issue: 1 },
    );
    return truth;
  }),
  shape('wrong unit', 'one supplier quotes in another currency', (story, broken, distance, seed) => {
    const quotes = ['a', 'b', 'c'].map((name, index) =>
      story.call(
        'supplier_quote',
        { supplier: `supplier-${name}` },
        {
          supplier: `supplier-${name}`,
          price: {
            value: index === 1 && broken ? 9100 + seed : 100 + index,
            currency: index === 1 && broken ? 'JPY' : 'EUR',
          },
        },
      ),
    );
    pad(story, distance, seed);
    story.call(
      'award',
      { values: [100, broken ? 9100 + seed : 101, 102] },
      broken ? refused('spread between quotes is implausible') : { ok: true },
    );
    return quotes[1] ?? 0;
  }),
  shape('dropped page', 'the loop ended one cursor early', (story, broken, distance, seed) => {
    story.call('scan', { table: word(seed) }, { items: [1, 2], cursor: 'q1w2e3' });
    story.call('scan', { table: word(seed), cursor: 'q1w2e3' }, { items: [3, 4], cursor: 'r4t5y6' });
    const truth = broken
      ? story.steps.length
      : story.call('scan', { table: word(seed), cursor: 'r4t5y6' }, { items: [5], cursor: null });
    pad(story, distance, seed);
    story.call(
      'reconcile',
      { count: broken ? 4 : 5 },
      broken ? refused('one item is unaccounted for') : { ok: true },
    );
    return truth;
  }),
];
