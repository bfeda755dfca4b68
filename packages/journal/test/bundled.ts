/**
 * Programs that tests start again and again: bundled into one file, with their compiled code kept, so that a start costs little
 * more than Node's own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

export interface Bundled extends Disposable {
  /** What Node is started with: `[path of the bundle]`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * @param source a TypeScript program
 * @param once arguments of a run that comes to its end by itself: a process that is killed leaves no compiled code behind
 */
export async function bundled(source: string, args: readonly string[]): Promise<Bundled> {
  const folder = mkdtempSync(join(tmpdir(), 'chassis-bundled-'));
  // Packages that stay outside are found from there too.
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  const build = await rolldown({ input: { program: source }, platform: 'node', logLevel: 'silent' });
  await build.write({ dir: folder, entryFileNames: '[name].mjs' });
  await build.close();
  const program = [join(folder, 'program.mjs')];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
  const first = spawn(process.execPath, [...program, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(first, 'exit');
  if (code !== 0) throw new Error(`${source} ended with ${code}`);
  return {
    args: program,
    env,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
