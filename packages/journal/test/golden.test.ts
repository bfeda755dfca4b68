/** Sessions that earlier versions wrote. They are never rewritten: every version reads them, and says the same about them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exportBundle,
  importBundle,
  memoryStore,
  readBundleFile,
  type SessionView,
  verifyBundle,
} from '../src/index.ts';
import { collect } from './build.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const names = readdirSync(GOLDEN).filter((name) => name.endsWith('.session.jsonl'));

function told(view: SessionView): unknown {
  const { header, turns, steps, values, approvals, notes, lastSeq, outcome } = view;
  const requests = steps.filter((step) => step.kind === 'model').map((step) => view.request(step.number));
  return JSON.parse(
    JSON.stringify({ header, turns, steps, values, approvals, notes, lastSeq, outcome, requests }),
  );
}

test.each(names)('%s reads as on the day it was written', async (name) => {
  const path = join(GOLDEN, name);
  const expected = JSON.parse(readFileSync(path.replace('.session.jsonl', '.view.json'), 'utf8'));
  const checked = await verifyBundle(readBundleFile(path));
  expect(checked).toEqual({ ...expected.verification, session: expected.view.header.id });
  const store = memoryStore();
  const { session: id } = await importBundle(store, readBundleFile(path));
  expect(told(await (await store.reader(id)).view())).toEqual(expected.view);
  expect(await collect(exportBundle(store, id))).toEqual(await collect(readBundleFile(path)));
});
