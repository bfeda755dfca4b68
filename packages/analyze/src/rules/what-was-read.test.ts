/** Rules about what was read: not finished, not decoded, of another version, or without some of what was asked about. */
import { expect, test } from 'vitest';
import { rulesOf, told } from '../../test/told.ts';

test('unfinished: a job was at work when its files were taken, and nobody asked again', () => {
  const exported = (...states: readonly string[]) =>
    told(
      'Export the table and load it.',
      [
        ...states.map(
          (state) => ['get_export', { job: 'ex-1' }, { job: 'ex-1', state, files: ['part-0'] }] as const,
        ),
        ['load', { files: ['part-0'] }, { rows: 400_000 }],
      ],
      ['compare', { source: 'events' }, 'the copy has 400000 rows of 1000000'],
    );
  const early = exported('running');
  expect(early.cause).toMatchObject({ step: early.steps[0], pointer: '/output/state', rule: 'unfinished' });
  expect(rulesOf(exported('running', 'done'))).not.toContain('unfinished');
});

test('unfinished: a figure of which the reader was not sure', () => {
  const read = (confidence: number) =>
    told(
      'Pay the scanned bill.',
      [
        ['ocr', { file: 'bill.png' }, { text: 'Total due: 1O8.50', confidence }],
        ['pay', { amount: 18.5, ref: 'bill' }, { id: 'P1' }],
      ],
      ['reconcile', { ref: 'bill' }, 'bill is underpaid by 90.00'],
    );
  expect(read(0.41).cause).toMatchObject({ pointer: '/output/confidence', rule: 'unfinished' });
  expect(rulesOf(read(0.98))).not.toContain('unfinished');
});

test('undecoded: base64 was written into the file as it came', () => {
  const written = (content: string) =>
    told(
      'Install the certificate.',
      [
        ['vault_read', { path: 'tls/web' }, { data: { cert: 'LS0tLS1CRUdJTi==', encoding: 'base64' } }],
        ['write_file', { path: '/etc/tls/web.pem', content }, { bytes: 16 }],
      ],
      ['reload', { service: 'nginx' }, 'no start line in /etc/tls/web.pem'],
    );
  const { cause, steps } = written('LS0tLS1CRUdJTi==');
  expect(cause).toMatchObject({ step: steps[1], pointer: '/input/content', rule: 'undecoded' });
  expect(rulesOf(written('-----BEGIN'))).not.toContain('undecoded');
});

test('other-version: the keys were read of another version than the one that was installed', () => {
  const upgraded = (version: string) =>
    told(
      'Upgrade the chart and set the new keys.',
      [['show_values', { chart: 'redis', version }, { keys: ['cluster.enabled'] }]],
      [
        'upgrade',
        { chart: 'redis', version: '5.0.1', set: 'cluster.enabled' },
        'unknown key cluster.enabled',
      ],
    );
  const { cause, steps } = upgraded('4.8.0');
  expect(cause).toMatchObject({ step: steps[0], pointer: '/input/version', rule: 'other-version' });
  expect(rulesOf(upgraded('5.0.1'))).not.toContain('other-version');
});

test('left-out: a result that speaks of two of three things', () => {
  const updated = (ids: readonly string[]) =>
    told(
      'Set the price of all variants.',
      [['update', { ids: ['v1', 'v2', 'v3'], price: 19 }, { updated: [...ids] }]],
      ['crawl', { product: 'p' }, 'v2 is shown with 24'],
    );
  const { cause, steps } = updated(['v1', 'v3']);
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/updated', rule: 'left-out' });
  expect(rulesOf(updated(['v1', 'v2', 'v3']))).not.toContain('left-out');
});

test('wrong-choice: the id of a row that the person did not name', () => {
  const asked = (account: string) =>
    told(
      'Answer the open ticket of Nordwind GmbH.',
      [
        [
          'crm_search',
          { q: 'Nordwind' },
          {
            accounts: [
              { id: 'ACC-17', name: 'Nordwind AG' },
              { id: 'ACC-71', name: 'Nordwind GmbH' },
            ],
          },
        ],
        ['list_tickets', { account }, { tickets: [{ id: 'T-5' }] }],
      ],
      ['close_ticket', { ticket: 'T-5' }, 'T-5 is of another account'],
    );
  const wrong = asked('ACC-17');
  expect(wrong.cause).toMatchObject({
    step: wrong.steps[1],
    pointer: '/input/account',
    rule: 'wrong-choice',
  });
  expect(rulesOf(asked('ACC-71'))).not.toContain('wrong-choice');
});
