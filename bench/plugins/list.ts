/**
 * What a command costs before it has anything to do, and `chassis plugin ls --static` of 50 plugins: CPU of a fresh process of the
 * published packages with a warm compile cache, in brackets from source, beside a Node that does nothing; all in turns. No
 * plugin's code may run for it.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fresh, type Installed, median } from '../published.ts';
import { benchProject, echoPlugin } from './project.ts';

const rounds = 11;
const commands = [['--version'], ['ls'], ['plugin', 'ls', '--static']];

export function list(installed: Installed): void {
  const project = benchProject();
  const marker = join(project.root, 'ran');
  for (let k = 0; k < 50; k++) {
    project.write(`plugins/p${k}/plugin.yaml`, echoPlugin(`p${k}`, 'runtime: inline\nmodule: ./index.mjs'));
    project.write(
      `plugins/p${k}/index.mjs`,
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(marker)}, 'ran\\n');\nexport default {};\n`,
    );
  }
  const source = join(import.meta.dirname, '../../packages/cli/bin/chassis.mjs');
  const rows = [
    { name: 'node -e 0', built: ['-e', '0'], source: undefined },
    ...commands.map((words) => ({
      name: `chassis ${words.join(' ')}`,
      built: [installed.file('cli/bin/chassis.mjs'), ...words],
      source: [source, ...words],
    })),
  ];
  const where = { cwd: project.root, cache: mkdtempSync(join(tmpdir(), 'chassis-bench-cache-')) };
  const taken = rows.map(() => ({ built: [] as number[], source: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    rows.forEach((row, k) => {
      const built = fresh(row.built, where).cpu;
      // Every fourth round is enough for what is only told beside.
      const from = row.source !== undefined && round % 4 === 0 ? fresh(row.source, where).cpu : undefined;
      if (round === 0) return; // fills the cache
      taken[k]?.built.push(built);
      if (from !== undefined) taken[k]?.source.push(from);
    });
  }
  console.log(`CPU of a fresh process, best and median of ${rounds}; published packages (from source)`);
  rows.forEach(({ name, source: from }, k) => {
    const { built = [], source: sources = [] } = taken[k] ?? {};
    const beside = from === undefined ? '' : ` (${Math.min(...sources)} ms)`;
    console.log(`  ${name.padEnd(28)} ${Math.min(...built)} ms, ${median(built)} ms${beside}`);
  });
  console.log(`  plugin code ran: ${existsSync(marker) ? 'YES' : 'no'}`);
  if (existsSync(marker)) process.exitCode = 1;
  rmSync(where.cache, { recursive: true, force: true });
  project.remove();
}
