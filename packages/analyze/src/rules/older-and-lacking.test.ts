/** Rules about what came too late, what was lacking from the start, and what changed under the run's hands. */
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/build.ts';
import { rulesOf, told } from '../../test/told.ts';
import { why } from '../why.ts';

test('out-of-order: an older event came after a newer one and was taken for the newest', () => {
  const synced = (...seqs: readonly number[]) =>
    told(
      'Keep the stock in sync.',
      seqs.flatMap((seq, poll) => [
        ['events', { poll }, { events: [{ seq, sku: 'Z', qty: seq - 3 }] }] as const,
        ['set_stock', { sku: 'Z', qty: seq - 3 }, { done: 1 }] as const,
      ]),
      ['audit_stock', { sku: 'Z' }, 'Z: the newest event says 8'],
    );
  const late = synced(11, 9);
  expect(late.cause).toMatchObject({
    step: late.steps[2],
    pointer: '/output/events/0/seq',
    rule: 'out-of-order',
  });
  expect(rulesOf(synced(9, 11))).not.toContain('out-of-order');
});

test('lacking: the failure asks for a scope that the token did not have', () => {
  const published = (...scopes: readonly string[]) =>
    told(
      'Publish the package.',
      [
        ['whoami', {}, { user: 'bot', scopes: [...scopes] }],
        ['build', { pkg: 'x' }, { tarball: 'x.tgz' }],
      ],
      ['publish', { tarball: 'x.tgz' }, '403: write:packages is needed'],
    );
  const { cause, steps } = published('read:packages');
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/scopes/0', rule: 'lacking' });
  for (const other of [published('read:packages', 'write:packages'), published('admin')])
    expect(rulesOf(other)).not.toContain('lacking');
});

test('stale-read: a command rewrote the file that had been read', () => {
  const replaced = (cmd: string) =>
    told(
      'Change the retry count.',
      [
        ['read_file', { path: 'client.ts' }, { content: 'const retries=3' }],
        ['bash', { cmd }, { exit_code: 0 }],
      ],
      ['replace', { path: 'client.ts', old: 'const retries=3' }, 'client.ts: the text was not found'],
    );
  for (const cmd of ['npx prettier --write client.ts', "sed -i 's/=/ = /' client.ts", 'echo x > client.ts']) {
    const { cause, steps } = replaced(cmd);
    expect(cause, cmd).toMatchObject({ step: steps[0], rule: 'stale-read' });
  }
  expect(rulesOf(replaced('cat client.ts'))).not.toContain('stale-read');
});

test('late-duplicate: what timed out was done again', () => {
  const story = new Story('Tell the customer.');
  const sms = { to: 'c9', text: 'Your parcel left' };
  story.call('send_sms', sms, { error: failure('ToolTimeout', -32001, 'no answer in time') });
  const again = story.call('send_sms', sms, { id: 'm2' });
  story.call('rate', { of: 'c9' }, { error: failure('ToolError', 17, 'customer c9 was messaged twice') });
  expect(why(story.fail()).cause).toMatchObject({ step: again, rule: 'late-duplicate' });
});

test('wrong-echo: another place that begins with the same name', () => {
  const planned = (name: string) =>
    told(
      'Plan the tour to Frankfurt (Oder).',
      [['geocode', { q: 'Frankfurt (Oder)' }, { name, lat: 50.11 }]],
      ['check_tour', { lat: 50.11 }, 'the tour is 552 km long'],
    );
  const { cause, steps } = planned('Frankfurt am Main');
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/name', rule: 'wrong-echo' });
  for (const same of ['Frankfurt (Oder), Germany', 'Frankfurt'])
    expect(rulesOf(planned(same))).not.toContain('wrong-echo');
});

test('truncated: a text as long as the result says it may be', () => {
  const copied = (limit: number) =>
    told(
      'Copy the description.',
      [
        [
          'sheet_read',
          { range: 'D88' },
          { value: 'A sturdy oak table with a leaf that exten', cell_limit: limit },
        ],
      ],
      ['seo_check', { range: 'D88' }, 'the description ends in the middle'],
    );
  expect(rulesOf(copied(41))[0]).toBe('truncated');
});
