/**
 * Everything that is checked without running the code: types, format, lint, layers, unused code.
 *
 * Promise: every check runs, whatever the others find; each reports its own time; one finding fails the whole.
 */
import { isMain, main, run } from './pinned-node.mjs';
import { setup } from './setup.mjs';

const checks = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'format', command: ['biome', 'ci', '--colors=off', '.'] },
  { name: 'lint', command: ['oxlint', '--deny-warnings'] },
  { name: 'layers', command: ['depcruise', '--config', '.dependency-cruiser.mjs', 'packages', 'plugins'] },
  { name: 'unused', command: ['knip', '--no-progress', '--no-config-hints'] },
];

/** Runs all checks, two at a time. @returns {Promise<{ passed: number, failed: string[] }>} */
export async function check() {
  const failed = [];
  const queue = [...checks];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      if (!(await passes(next))) failed.push(next.name);
  };
  await Promise.all([worker(), worker()]);
  return { passed: checks.length - failed.length, failed };
}

async function passes({ name, command: [tool, ...args] }) {
  const started = Date.now();
  const { code, output } = await run(tool, args, {
    capture: true,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined },
  });
  const time = `${((Date.now() - started) / 1000).toFixed(1)} s`.padStart(7);
  process.stdout.write(`check: ${name.padEnd(7)} ${code === 0 ? 'ok    ' : 'FAILED'} ${time}\n`);
  if (code !== 0) process.stdout.write(`${output.trimEnd()}\n\n`);
  return code === 0;
}

if (isMain(import.meta))
  await main(async () => {
    await setup();
    const { failed } = await check();
    if (failed.length > 0) process.exitCode = 1;
  });
