/** The same cycles in DBOS: each model call and each tool call a durable step of a workflow, in a PostgreSQL of their own. */
import { execFileSync } from 'node:child_process';
import { globSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const peers = createRequire(new URL('../peers/package.json', import.meta.url));
const PORT = 54_417;

/** A server that syncs, as it comes, or undefined where none is installed (Debian: `postgresql`). Needs root. */
export function startPostgres(): { readonly url: string; stop(): void } | undefined {
  const bin = globSync('/usr/lib/postgresql/*/bin').at(-1);
  if (bin === undefined || process.getuid?.() !== 0) return undefined;
  const folder = join(tmpdir(), `chassis-bench-pg-${process.pid}`);
  const as = (program: string, ...args: string[]): void =>
    void execFileSync('runuser', ['-u', 'postgres', '--', join(bin, program), ...args], { stdio: 'ignore' });
  execFileSync('install', ['-d', '-o', 'postgres', '-g', 'postgres', '-m', '700', folder]);
  as('initdb', '-D', folder, '-A', 'trust', '-U', 'postgres');
  const options = `-p ${PORT} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`;
  as('pg_ctl', '-D', folder, '-w', '-l', join(folder, 'log'), '-o', options, 'start');
  return {
    url: `postgres://postgres@127.0.0.1:${PORT}/postgres`,
    stop() {
      as('pg_ctl', '-D', folder, '-w', '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns a function that runs a workflow of so many cycles, and one that ends it all */
export async function dbos(url: string, page: (i: number) => unknown) {
  // biome-ignore lint/suspicious/noExplicitAny: installed in bench/peers, its types are not there for the checker
  const { DBOS } = peers('@dbos-inc/dbos-sdk') as Record<string, any>;
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' });
  const run: (cycles: number) => Promise<void> = DBOS.registerWorkflow(
    async (cycles: number) => {
      for (let i = 0; i < cycles; i++) {
        await DBOS.runStep(async () => ({ content: `Page ${i} next.`, call: { page: i } }), {
          name: 'model',
        });
        await DBOS.runStep(async () => page(i), { name: 'orders' });
      }
    },
    { name: 'agent' },
  );
  await DBOS.launch();
  return { run: (cycles: number) => run(cycles), stop: (): Promise<void> => DBOS.shutdown() };
}
