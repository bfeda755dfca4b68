/** A second set of seeded failures: textual results, codes and warnings, other tools for the same twelve causes. */
import { failure, invalid } from './build.ts';
import { pad, type Shape, shape, word } from './shapes.ts';

export const shapesAside: readonly Shape[] = [
  shape('truncation', 'a CSV export stops at its row limit', (story, broken, distance, seed) => {
    const lines = ['sku,stock', `AA-${seed}1,4`, `AA-${seed}2,9`];
    const truth = story.call(
      'export_csv',
      { table: 'stock' },
      { csv: lines.join('\n'), rows: 2, limit_reached: broken },
    );
    pad(story, distance, seed);
    story.call(
      'reorder_check',
      { sku: `ZZ-${seed}99-X` },
      broken ? { error: failure('ToolError', 4, `ZZ-${seed}99-X: not in the export`) } : { ok: true },
    );
    return truth;
  }),
  shape('truncation', 'the log was shown only up to a marker', (story, broken, distance, seed) => {
    const text = broken
      ? `line 1 ok\nline 2 ok\n[output truncated: 9,112 more characters]`
      : 'line 1 ok\nline 2 ok';
    const truth = story.call(
      'shell',
      { command: 'cat build.log' },
      { exit_code: 0, stdout: text, stderr: '' },
    );
    pad(story, distance, seed);
    story.call(
      'report',
      { verdict: 'passed' },
      broken ? { error: failure('ToolError', 3, 'verdict contradicts the build server') } : { ok: true },
    );
    return truth;
  }),
  shape('wrong locale', 'one quote uses an apostrophe and a comma', (story, broken, distance, seed) => {
    const quotes = [
      '1204.10',
      '998.00',
      broken ? `1'${300 + seed},75` : `1${300 + seed}.75`,
      '1107.45',
      '1250.00',
    ];
    const steps = quotes.map((price, index) =>
      story.call(
        'quote',
        { vendor: `vendor-${index}` },
        { vendor: `vendor-${index}`, offer: { price, valid: true } },
      ),
    );
    pad(story, distance, seed);
    story.call(
      'pick_lowest',
      { prices: quotes },
      broken
        ? { error: invalid({ path: '/prices/2', expected: 'decimal', received: 'string' }) }
        : { index: 1 },
    );
    return steps[2] ?? 0;
  }),
  shape(
    'stale read',
    'the price was raised between reading and ordering',
    (story, broken, distance, seed) => {
      const sku = `SKU-${seed}-${word(seed)}`;
      const truth = story.call(
        'get_price',
        { sku },
        { sku, price: 18.5 + seed, updated_at: '2026-03-01T08:00:00Z' },
      );
      pad(story, distance, seed);
      if (broken) story.call('inventory', { sku }, { sku, stock: 4, updated_at: '2026-03-01T09:30:00Z' });
      story.call(
        'place_order',
        { sku, price: 18.5 + seed },
        broken
          ? { error: failure('Conflict', -32013, `the price ${18.5 + seed} is no longer offered`) }
          : { order: 1 },
      );
      return truth;
    },
  ),
  shape('wrong tool result', 'the tool read another day', (story, broken, distance, seed) => {
    const day = `2026-05-1${seed}`;
    const truth = story.call(
      'fetch_report',
      { date: day },
      { report: { date: broken ? '2026-04-30' : day, revenue: 1000 + seed * 7 } },
    );
    pad(story, distance, seed);
    story.call(
      'publish',
      { revenue: 1000 + seed * 7, day },
      broken ? { error: failure('ToolError', 5, 'revenue differs from the books') } : { ok: true },
    );
    return truth;
  }),
  shape(
    'wrong tool result',
    'the sum tool gave a value that its data contradict',
    (story, broken, distance, seed) => {
      const values = [10 + seed, 20, 30];
      const sum = values.reduce((a, b) => a + b, 0);
      const truth = story.call('sum_column', { values }, { sum: broken ? sum + 1000 : sum, count: 3 });
      pad(story, distance, seed);
      story.call(
        'post_total',
        { total: broken ? sum + 1000 : sum },
        broken
          ? { error: failure('ToolError', 6, `total ${sum + 1000} was refused by the ledger`) }
          : { ok: true },
      );
      return truth;
    },
  ),
  shape('fabricated value', 'a file name that exists nowhere', (story, broken, distance, seed) => {
    story.call(
      'shell',
      { command: 'ls' },
      { exit_code: 0, stdout: `main.py\n${word(seed)}.toml\n`, stderr: '' },
    );
    pad(story, distance, seed);
    const path = broken ? `config/settings_${word(seed)}.yaml` : `${word(seed)}.toml`;
    story.call(
      'read_file',
      { path },
      broken
        ? { error: failure('NotFound', 1, `ENOENT: no such file or directory, open '${path}'`) }
        : { text: 'x' },
    );
    return story.steps.length - 1;
  }),
  shape('loop', 'two calls in turn, no progress', (story, broken, distance, seed) => {
    const truth = story.call(
      'run_tests',
      { suite: 'unit' },
      { failed: broken ? 3 : 0, first: `test_${word(seed)}` },
    );
    const rounds = broken ? 3 + Math.min(distance, 6) : 0;
    for (let round = 0; round < rounds; round++) {
      story.call('read_file', { path: `test_${word(seed)}.py` }, { text: 'assert total == 5' });
      story.call('run_tests', { suite: 'unit' }, { failed: 3, first: `test_${word(seed)}` });
    }
    if (broken)
      story.step({
        kind: 'model',
        name: 'scripted',
        input: {},
        status: 'denied',
        causes: [story.steps.length],
        error: failure('BudgetExceeded', -32008, 'over 0.50 US dollars'),
      });
    return truth;
  }),
  shape('swallowed error', 'a failed command whose text goes on as data', (story, broken, distance, seed) => {
    const truth = story.call(
      'shell',
      { command: `git rev-parse ${word(seed)}` },
      broken
        ? {
            exit_code: 128,
            stdout: `${word(seed)}-head`,
            stderr: `fatal: ambiguous argument '${word(seed)}'`,
          }
        : { exit_code: 0, stdout: 'a1b2c3d4e5', stderr: '' },
    );
    pad(story, distance, seed);
    const ref = broken ? `${word(seed)}-head` : 'a1b2c3d4e5';
    story.call(
      'checkout',
      { ref },
      broken
        ? { error: failure('ToolError', 1, `pathspec '${ref}' did not match any file known to git`) }
        : { ok: true },
    );
    return truth;
  }),
  shape(
    'retry with changed payload',
    'a reset connection, then another recipient',
    (story, broken, distance, seed) => {
      const mail = { to: `team-${word(seed)}@example.org`, subject: 'Report', body: 'see file' };
      story.call(
        'send_mail',
        mail,
        broken ? { error: failure('ToolError', 9, 'connection reset by peer') } : { id: 'm-1' },
      );
      if (!broken) return 1;
      const truth = story.call('send_mail', { ...mail, to: `all-${word(seed)}@example.org` }, { id: 'm-2' });
      pad(story, distance, seed);
      story.call(
        'confirm_delivery',
        { subject: 'Report' },
        { error: failure('ToolError', 9, 'delivered to the wrong list') },
      );
      return truth;
    },
  ),
  shape(
    'late duplicate',
    'a ticket was opened twice after an unknown outcome',
    (story, broken, distance, seed) => {
      const ticket = { title: `Disk full on ${word(seed)}`, priority: 'high' };
      story.call(
        'create_ticket',
        ticket,
        broken
          ? { status: 'unknown', error: failure('OutcomeUnknown', -32014, 'create_ticket was interrupted') }
          : { ticket: `T-${seed}1` },
      );
      if (!broken) return 1;
      const truth = story.call('create_ticket', ticket, { ticket: `T-${seed}2` });
      pad(story, distance, seed);
      story.call(
        'assign',
        { ticket: `T-${seed}2`, to: 'ops' },
        { error: failure('ToolError', 8, 'duplicate of an open ticket') },
      );
      return truth;
    },
  ),
  shape(
    'missing permission',
    'a database role without rights answers with nothing',
    (story, broken, distance, seed) => {
      const truth = story.call(
        'sql',
        { query: `select * from payroll_${word(seed)}` },
        broken
          ? { rows: [], warning: `permission denied for table payroll_${word(seed)}` }
          : { rows: [{ id: 1 }] },
      );
      pad(story, distance, seed);
      story.call(
        'pay_report',
        { total: broken ? 0 : 1 },
        broken ? { error: failure('ToolError', 2, 'a payroll of 0 is not possible') } : { ok: true },
      );
      return truth;
    },
  ),
  shape('wrong unit', 'milliseconds taken for seconds', (story, broken, distance, seed) => {
    story.call('get_timeout', { service: word(seed) }, { timeout_ms: 30000 + seed });
    pad(story, distance, seed);
    story.call(
      'set_deadline',
      { service: word(seed), timeout_seconds: broken ? 30000 + seed : 30 },
      broken
        ? { error: failure('ToolError', 1, `${30000 + seed} is more than the allowed 3600`) }
        : { ok: true },
    );
    return story.steps.length - 1;
  }),
  shape(
    'wrong unit',
    'one sensor reports in Fahrenheit without saying so',
    (story, broken, distance, seed) => {
      const readings = [21.5, 20.75, broken ? 70.2 + seed : 21.25, 22.1];
      const steps = readings.map((value, index) =>
        story.call(
          'read_sensor',
          { sensor: `s-${index}-${word(index)}` },
          { sensor: `s-${index}-${word(index)}`, temperature: value },
        ),
      );
      pad(story, distance, seed);
      story.call(
        'set_heating',
        { readings },
        broken
          ? { error: failure('ToolError', 1, `reading ${70.2 + seed} is outside of 5 to 40`) }
          : { ok: true },
      );
      return steps[2] ?? 0;
    },
  ),
  shape('dropped page', 'rows are fewer than the stated total', (story, broken, distance, seed) => {
    const page = (number: number, count: number): object => ({
      total: 9,
      items: Array.from({ length: count }, (_, index) => ({ key: `k-${seed}-${number}${index}` })),
    });
    story.call('page_items', { offset: 0 }, page(0, 3) as never);
    const truth = story.call('page_items', { offset: 3 }, page(3, broken ? 2 : 3) as never);
    story.call('page_items', { offset: 6 }, page(6, 3) as never);
    pad(story, distance, seed);
    story.call(
      'close_month',
      { items: broken ? 8 : 9 },
      broken ? { error: failure('ToolError', 1, 'an item is missing') } : { ok: true },
    );
    return truth;
  }),
];
