/**
 * node bench/jsonrpc/run.ts [--pairs N] [--only NAME,NAME] [--scenario TEXT] [--figures]
 *
 * Measures this repository's peer and others against the naive floor and writes the figures into README.md. With --only,
 * --scenario or --figures (the last table alone) it prints, and writes nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  dispatch,
  heapPerTrip,
  hostileNesting,
  importCost,
  largeMessages,
  timersUnderLoad,
} from './figures.ts';
import { names } from './implementation.ts';
import { compare } from './pair.ts';
import { type Scenario, scenarios } from './scenario.ts';

// Garbage per round trip can only be counted while nothing is collected.
const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];
const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '32' },
    only: { type: 'string' },
    scenario: { type: 'string', default: '' },
    figures: { type: 'boolean', default: false },
    heap: { type: 'string' },
  },
});
if (values.heap) {
  console.log(await heapPerTrip(values.heap));
  process.exit();
}

const peers = join(import.meta.dirname, '../peers');
if (!existsSync(join(peers, 'node_modules'))) {
  console.log('installing what is compared with into bench/peers …');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: peers,
    stdio: 'inherit',
  });
}

const wanted = values.only?.split(',') ?? names.filter((name) => name !== 'floor-again');
const columns = wanted.filter((name) => name !== 'chassis-content-length');
const chosen = values.figures ? [] : scenarios.filter(({ name }) => name.includes(values.scenario));
const began = loadavg()[0] ?? 0;
const output: string[] = [];
const print = (line: string): void => {
  output.push(line);
  console.log(line);
};
const figure = (n: number): string => n.toFixed(2);

const missed: string[] = [];

async function row(scenario: Scenario): Promise<string> {
  const cells: string[] = [];
  const { goal, stretch } = scenario;
  for (const name of columns) {
    // Slow libraries are far from the floor: fewer pairs tell as much.
    const [pairs, warmUp] = /chassis|floor/.test(name)
      ? [Number(values.pairs), 1500]
      : [Math.ceil(Number(values.pairs) / 4), 500];
    const { ratio, floor, candidate } = await compare(scenario, name, pairs, warmUp);
    cells.push(`${figure(ratio)} (${figure(candidate / floor)})`);
    if (name === 'chassis' && ratio > goal) missed.push(`${scenario.name} (${figure(ratio)})`);
  }
  return `| ${scenario.name} | ${figure(goal)} / ${figure(stretch)} | ${cells.join(' | ')} |`;
}

print(`| CPU per round trip ÷ floor | goal / stretch | ${columns.join(' | ')} |`);
print(`| --- | --- |${' --- |'.repeat(columns.length)}`);
for (const scenario of chosen) print(await row(scenario));
if (wanted.includes('chassis-content-length') && chosen[0] === scenarios[0] && scenarios[0]) {
  const { ratio, floor, candidate } = await compare(
    scenarios[0],
    'chassis-content-length',
    Number(values.pairs),
    1500,
  );
  print(
    `\nContent-Length framing, memory, 100 B, 1 in flight: **${figure(ratio)}** (${figure(candidate / floor)}); goal 1.70, stretch 1.45.`,
  );
}
if (!values.only && values.scenario === '') {
  const heapOf = (name: string): number =>
    Number(
      spawnSync(process.execPath, [...flags, import.meta.filename, '--heap', name], { encoding: 'utf8' })
        .stdout,
    );
  print('\n| figure | measured | goal |');
  print('| --- | --- | --- |');
  print(
    `| heap per small round trip, both sides | ${(heapOf('chassis') / 1000).toFixed(1)} kB (floor ${(heapOf('floor') / 1000).toFixed(1)}) | 5 kB, stretch 4 |`,
  );
  const large = await largeMessages();
  print(`| 8 MB in 64 KiB chunks ÷ floor | ${figure(large.eight)} | 1.2, stretch 1.0 |`);
  const each = large.perMegabyte;
  print(
    `| CPU per MB of messages of ${each.map(({ mib }) => mib).join(', ')} MB | ${each.map(({ own }) => own.toFixed(1)).join(', ')} ms (floor ${each.map(({ floor }) => floor.toFixed(1)).join(', ')}) | linear |`,
  );
  print(`| 4 MB in 4 KiB chunks ÷ floor | ${figure(large.four)} | 1.5, stretch 1.0 |`);
  const cost = await importCost();
  print(
    `| import, CPU time over bare Node, as published, compile cache warm | ${cost.built.toFixed(1)} ms (from sources ${cost.sources.toFixed(1)}) | 10 ms |`,
  );
  print(`| 10,000 methods ÷ 10 methods | ${figure(await dispatch())} | 1.05 |`);
  const { peers: own, floor } = await timersUnderLoad();
  print(
    `| timer of 1 ms under saturation, worst lateness in CPU time | ${own.worstCpu.toFixed(1)} ms (a loop that yields every 2 ms: ${floor.worstCpu.toFixed(1)}) | 10 ms |`,
  );
  print(
    `| the same by the clock, median and worst | ${own.median.toFixed(1)}, ${own.worst.toFixed(1)} ms (${floor.median.toFixed(1)}, ${floor.worst.toFixed(1)}) | |`,
  );
  print(
    `| 10 MB of \`[\` blocks the loop for, CPU time | ${(await hostileNesting()).toFixed(1)} ms | 20 ms |`,
  );
  if (values.figures) process.exit();
  const verdict =
    missed.length === 0 ? 'Every goal of the first table is reached.' : `Not reached: ${missed.join('; ')}.`;
  print(`\n${verdict}`);
  const readme = join(import.meta.dirname, 'README.md');
  const begin = '<!-- figures -->';
  const head = readFileSync(readme, 'utf8').split(begin)[0] ?? '';
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${Math.round(began)} to ${Math.round(loadavg()[0] ?? 0)}`;
  const others = Math.ceil(Number(values.pairs) / 4);
  const where = `Node ${process.version}, ${machine}, ${new Date().toISOString().slice(0, 10)}. Floor and chassis with ${values.pairs} pairs, the others with ${others}.`;
  writeFileSync(readme, `${head}${begin}\n\n${where}\n\n${output.join('\n')}\n`);
  spawnSync(join(import.meta.dirname, '../../node_modules/.bin/biome'), ['format', '--write', readme]);
}
process.exit();
