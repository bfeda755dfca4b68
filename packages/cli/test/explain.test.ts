/** What explains a run, on the incident of the examples: against a good run, forward, by every kind of address. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, type Ended, records, type TempFolder, tempFolder } from './support/chassis.ts';

const example = fileURLToPath(new URL('../../../examples/incident', import.meta.url));
let folder: TempFolder;
let failed: string;

const run = (...args: string[]): Promise<Ended> => chassis(args, { cwd: folder.path });
const result = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await run(...args, '--json');
  return { code: ended.code, ...records(ended.stdout).at(-1) };
};

beforeAll(async () => {
  folder = tempFolder();
  cpSync(example, folder.path, { recursive: true });
  failed = (await result('run', 'Report the average order value of the three days.', '--trust'))
    .session as string;
});
afterAll(() => folder[Symbol.dispose]());

it('why compares with a run that went well, and asks about one value', async () => {
  const set = ['--set', '/output/rows/1/amount=1249.90', '--set', '/output/rows/2/amount=null'];
  await run('fork', `${failed}:cause`, ...set, '--run');
  expect(await result('why', failed, '--against', '@last')).toMatchObject({
    cause: { step: 4, rule: 'unlike-good-run' },
  });
  expect(await result('why', `${failed}:10#/input/amounts/5`)).toMatchObject({
    symptom: { about: { step: 10, pointer: '/input/amounts/5' }, statuses: { step: 'error', run: 'failed' } },
    cause: { step: 4 },
  });
  const told = (await run('why', failed)).stdout;
  expect(told).toMatch(/status +transport not started · answer none · step error/);
  // What the record tells is put right; nothing is set to what it was.
  expect(told).toContain("--set '/output/rows/1/amount=1249.9' --set '/output/rows/2/amount=null' --run");
  // A fork has run since it was made, not since its parent began.
  const good = await result('why', '@last');
  expect(good).toMatchObject({ status: 'none' });
  const own = (await result('why', failed)).run as { duration_ms: number };
  expect((good.run as { duration_ms: number }).duration_ms).toBeLessThan(own.duration_ms + 60_000);
});

it('blame goes forward, and says where the values of a list are', async () => {
  const { links } = await result('blame', `${failed}:4#/output/rows/1/amount`, '--forward');
  const steps = (links as { from: { step: number } }[]).map(({ from }) => from.step);
  expect(steps).toContain(10);
  const list = await run('blame', `${failed}:4#/output/rows`);
  expect(list.code).toBe(2);
  expect(list.stderr).toContain(`${failed}:4#/output/rows/0/`);
});

it('context says whose request it shows, and blame what there is where a pointer leads nowhere', async () => {
  expect((await run('context', `${failed}:10`)).stdout).toMatch(
    /^step 10 is tool average; step 9 asked for it/,
  );
  expect((await run('context', `${failed}:9`)).stdout).not.toContain('asked for it');
  const { code, stderr } = await run('blame', `${failed}:10#/input/amounts/77`);
  expect(code).toBe(2);
  expect(stderr).toContain(`in /input/amounts there are ${failed}:10#/input/amounts/0`);
});

it('every address that is printed is accepted, also those of the session itself, of a bundle, and with odd signs', async () => {
  const bundle = join(folder.path, 'a:b.session.jsonl');
  expect((await run('export', failed, '-o', bundle)).code).toBe(0);
  for (const session of [failed, failed.slice(0, 6), '@failed', './a%3Ab.session.jsonl']) {
    const { stdout, code, stderr } = await run('blame', `${session}:fail#/input/amounts/5`);
    expect(code, stderr).toBe(0);
    const printed = stdout.match(/\S+:\d+#\/\S+/g) ?? [];
    expect(printed.length).toBeGreaterThan(2);
    for (const address of printed) expect((await run('show', address)).code, address).toBe(0);
  }
  const said = await run('blame', `${failed}#/turns/0/input@0-6`);
  expect(said.stdout).toContain(`${failed}:0#/turns/0/input@0-6`);
  expect((await run('show', `${failed}:0#/turns/0/input@0-6`)).stdout).toContain('Report');
  expect((await run('diff', `${failed}:4`, failed)).stderr).toContain('diff compares whole sessions');
});
