/**
 * The journal beside other records of the same cycles, in one run: LangGraph JS with its checkpointers, deepseek-harness's
 * session log, DBOS on PostgreSQL. `node bench/journal/peers.ts [CYCLES…]` (default: 100 1000).
 *
 * CPU of this process, in µs a cycle: what the same loop costs without a record is taken off for ours; the others' loop
 * cannot run without their frameworks and is part of their figure. PostgreSQL's own CPU is not in it.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileStore } from '../../packages/journal/src/index.ts';
import { bareWriter, bytesBelow, cpu, header, page, record } from './cycle.ts';
import { dbos, startPostgres } from './dbos.ts';
import { dsh } from './dsh.ts';
import { langgraph } from './langgraph.ts';

if (!existsSync(join(import.meta.dirname, '../peers/node_modules'))) {
  console.log('bench/peers is not installed: npm run bench -- journal, or npm ci in bench/peers');
  process.exit(2);
}
const sizes = process.argv.slice(2).map(Number);
const root = mkdtempSync(join(tmpdir(), 'chassis-bench-peers-'));

function report(what: string, cycles: number, time: number, bytes: number | undefined): void {
  const kept = bytes === undefined ? '' : (bytes / cycles).toFixed(0);
  console.log(
    `${what.padEnd(44)} ${String(cycles).padStart(8)} ${(time / cycles).toFixed(0).padStart(12)} ${kept.padStart(14)}`,
  );
}

async function ours(cycles: number): Promise<void> {
  const folder = mkdtempSync(join(root, 'ours-'));
  const store = fileStore({ root: folder });
  const writer = await store.create(header(root));
  const bare = await cpu(() => record(bareWriter(), cycles));
  const time = await cpu(async () => {
    await record(writer, cycles);
    await writer.barrier();
  });
  report('chassis', cycles, Math.max(0, time - bare), bytesBelow(folder));
  await store.search('orders');
  const index = statSync(join(folder, 'search.db')).size;
  console.log(
    `  its full-text index, made by the first search, takes ${(index / cycles).toFixed(0)} bytes a cycle`,
  );
  const start = performance.now();
  for (let i = 0; i < cycles; i++) {
    writer.append('note.added', { text: 'x'.repeat(300), author: 'bench' });
    await writer.barrier();
  }
  durable(performance.now() - start, cycles);
  await writer.close();
  await store.close();
}

function durable(time: number, steps: number): void {
  console.log(`  a durable step takes ${(time / steps).toFixed(2)} ms`);
}

console.log(
  `${'record of a cycle'.padEnd(44)} ${'cycles'.padStart(8)} ${'µs CPU'.padStart(12)} ${'bytes on disk'.padStart(14)}`,
);
const postgres = startPostgres();
try {
  const engine = postgres && (await dbos(postgres.url, page));
  await engine?.run(10);
  await dsh(10, join(root, 'warm'), false, page);
  for (const channel of ['delta', 'full'] as const) await langgraph(10, channel, undefined, page);
  console.log('(once, so that everything is compiled)');
  await ours(100);
  console.log('');
  for (const cycles of sizes.length > 0 ? sizes : [100, 1000]) {
    await ours(cycles);
    for (const flush of [false, true]) {
      const folder = join(root, `dsh-${cycles}-${flush}`);
      const start = performance.now();
      const time = await cpu(() => dsh(cycles, folder, flush, page));
      report(`deepseek-harness session log${flush ? ', flushed' : ''}`, cycles, time, bytesBelow(folder));
      if (flush) durable(performance.now() - start, 2 * cycles);
    }
    for (const channel of ['delta', 'full'] as const) {
      for (const kept of ['SQLite', 'memory']) {
        const folder = mkdtempSync(join(root, 'langgraph-'));
        const path = kept === 'SQLite' ? join(folder, 'db') : undefined;
        const time = await cpu(() => langgraph(cycles, channel, path, page));
        report(`LangGraph, ${kept}, ${channel}`, cycles, time, path && bytesBelow(folder));
      }
    }
    if (engine) {
      const start = performance.now();
      const time = await cpu(() => engine.run(cycles));
      report('DBOS on PostgreSQL (client only)', cycles, time, undefined);
      durable(performance.now() - start, 2 * cycles);
    } else {
      console.log('DBOS: no PostgreSQL here (Debian: postgresql, as root)');
    }
  }
  await engine?.stop();
} finally {
  postgres?.stop();
  rmSync(root, { recursive: true, force: true });
}
process.exit();
