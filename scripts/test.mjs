/**
 * All checks and all tests, or with `--full` the long suites at their full share.
 *
 * Promise: the last line is `N passed, N failed, N skipped`, a check counting as one test, and the exit code is 0 only
 * if nothing failed; with CI=true a skipped test is a failure. Other arguments go to vitest.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './check.mjs';
import { longTests } from './long-tests.mjs';
import { main, root, run } from './pinned-node.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== '--full');
  const full = process.argv.includes('--full');
  await setup({ packages: true });
  const checks = full ? { passed: 0, failed: [] } : await check();
  const tests = full
    ? await testRun([...longTests(root), ...args], { CHASSIS_FULL: '1' })
    : await testRun(args, {});

  for (const name of checks.failed) console.log(`failed check: ${name} (its findings are above)`);
  const strict = process.env.CI === 'true';
  if (strict) for (const name of tests.skipped) console.log(`skipped, which CI=true does not allow: ${name}`);
  const passed = checks.passed + tests.passed;
  const failed = checks.failed.length + tests.failed;
  if (failed > 0 || (strict && tests.skipped.length > 0)) process.exitCode = 1;
  console.log(`\n${passed} passed, ${failed} failed, ${tests.skipped.length} skipped`);
});

/** A run that ends badly without a failed test (it crashed, or found no test) counts as one failure. */
async function testRun(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'chassis-test-'));
  const counts = join(folder, 'counts.json');
  try {
    const { code } = await run('vitest', ['run', ...args], { env: { ...env, CHASSIS_TEST_COUNTS: counts } });
    const found = readdirSync(folder).length > 0 ? JSON.parse(readFileSync(counts, 'utf8')) : undefined;
    const { passed = 0, failed = 0, skipped = [] } = found ?? {};
    return { passed, failed: code !== 0 && failed === 0 ? 1 : failed, skipped };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
