/**
 * Faults at the n-th operation by which this process touches a folder: killed before it or in the middle of a write, the power
 * cut, or an error from the system.
 *
 * Every function of `node:fs` that the store may use is counted, so nobody has to remember to pass a seam on. After a power
 * cut only what was synchronised is there: bytes by fdatasync or fsync of their file, names by fsync of their folder.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, resolve } from 'node:path';

/**
 * `kill`: dies before the operation. `half`: dies in the middle of a write. `cut`: the power goes before the operation.
 * `short`: a write takes half of its bytes and says so. Anything else is the code of an error (`EIO`, …) that the operation
 * fails with; with `!` behind it so does every later one that needs room.
 */
export type Fault = 'kill' | 'half' | 'cut' | 'short' | 'EIO' | 'ENOSPC!';

type Call = (...args: unknown[]) => unknown;

const PATHS = ['mkdirSync', 'writeFileSync', 'renameSync', 'linkSync', 'rmSync', 'utimesSync', 'chmodSync'];
const FDS_SYNC = ['writeSync', 'fdatasyncSync', 'fsyncSync', 'ftruncateSync', 'closeSync'];
const FDS = ['write', 'fdatasync', 'fsync', 'ftruncate', 'close'];
const CALLBACKS = ['open', 'rename', ...FDS];
const GROWS = new Set(['mkdirSync', 'writeFileSync', 'linkSync', 'open', 'openSync', 'write', 'writeSync']);

/**
 * Counts operations on everything below `root` from now on, and makes one of them fail.
 * @returns the names of the operations so far
 */
export function arm(root: string, at: number, fault: Fault): readonly string[] {
  const calls: string[] = [];
  const files = new Map<number, string>();
  const durable = new Durable(resolve(root));
  const real = new Map<string, Call>();
  const inside = (args: readonly unknown[]): boolean =>
    typeof args[0] === 'number' ? files.has(args[0]) : durable.holds(String(args[0]));

  const due = (name: string): boolean => {
    calls.push(name.replace(/Sync$/, ''));
    if (fault.endsWith('!')) return calls.length >= at && GROWS.has(name);
    return calls.length === at;
  };

  /** Does what the rule says: comes back with an error to answer, with how much to write, or not at all. */
  const strike = (name: string, args: readonly unknown[]): NodeJS.ErrnoException | number => {
    const bytes = /^write/.test(name) ? Buffer.from(args[1] as Buffer | string) : undefined;
    if (fault === 'short') return bytes ? Math.max(1, bytes.length >> 1) : Number.POSITIVE_INFINITY;
    if (fault === 'half' && bytes && typeof args[0] === 'number') {
      const at = name === 'write' ? (args[4] as number) : (args[4] as number | undefined);
      (real.get('writeSync') as Call)(args[0], bytes, 0, bytes.length >> 1, at);
    } else if (fault === 'half' && bytes) {
      (real.get('writeFileSync') as Call)(args[0], bytes.subarray(0, bytes.length >> 1), args[2]);
    }
    if (fault === 'cut') durable.cut(real);
    if (fault === 'kill' || fault === 'half' || fault === 'cut') {
      process.kill(process.pid, 'SIGKILL');
      for (;;);
    }
    const code = fault.replace('!', '');
    return Object.assign(new Error(`${code}: injected into ${name}`), { code });
  };

  const after = (name: string, args: readonly unknown[], result: unknown): void => {
    if (name === 'open' || name === 'openSync') files.set(result as number, resolve(String(args[0])));
    const path = typeof args[0] === 'number' ? (files.get(args[0]) as string) : resolve(String(args[0]));
    if (/^close/.test(name)) files.delete(args[0] as number);
    durable.note(name.replace(/Sync$/, ''), path, args);
  };

  const table = fs as unknown as Record<string, Call>;
  for (const name of ['openSync', ...PATHS, ...FDS_SYNC]) {
    const call = table[name] as Call;
    real.set(name, call);
    table[name] = (...args) => {
      if (!inside(args)) return call(...args);
      const struck = due(name) ? strike(name, args) : Number.POSITIVE_INFINITY;
      if (typeof struck !== 'number') throw struck;
      const result = call(...(name === 'writeSync' ? shortened(args, struck) : args));
      after(name, args, result);
      return result;
    };
  }
  for (const name of CALLBACKS) {
    const call = table[name] as Call;
    table[name] = (...args) => {
      if (!inside(args)) return call(...args);
      const done = args.at(-1) as Call;
      const struck = due(name) ? strike(name, args) : Number.POSITIVE_INFINITY;
      if (typeof struck !== 'number') return void setImmediate(done, struck);
      const input = args.slice(0, -1);
      return call(
        ...(name === 'write' ? shortened(input, struck) : input),
        (error: unknown, result: unknown) => {
          if (!error) after(name, input, result);
          done(error, result);
        },
      );
    };
  }
  // Readers open files by promises.
  const open = fs.promises.open.bind(fs.promises);
  fs.promises.open = (async (...args: Parameters<typeof open>) => {
    if (durable.holds(String(args[0])) && due('openFile')) {
      const struck = strike('openFile', args);
      if (typeof struck !== 'number') throw struck;
    }
    return open(...args);
  }) as typeof open;
  syncBuiltinESMExports();
  return calls;
}

/** The same write of fewer bytes: `fd, buffer, offset, length, position`. */
function shortened(args: readonly unknown[], limit: number): unknown[] {
  const [fd, bytes, offset, length, position] = args as [number, Buffer, number, number, number];
  return [fd, bytes, offset, Math.min(length, limit), position];
}

/** What would still be there if the power went now. */
class Durable {
  readonly #root: string;
  /** Files that this process wrote: bytes that are certain to be on the disk. */
  readonly #lengths = new Map<string, number>();
  /** Names that this process made and whose folder was not synchronised since. */
  readonly #names = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  holds(path: string): boolean {
    return `${resolve(path)}/`.startsWith(`${this.#root}/`);
  }

  note(name: string, path: string, args: readonly unknown[]): void {
    switch (name) {
      case 'mkdir':
        // What stands above the folder is not looked at.
        if (path !== this.#root) this.#names.add(path);
        break;
      case 'open':
        if (!String(args[1]).startsWith('w')) break;
        this.#names.add(path);
        this.#lengths.set(path, 0);
        break;
      case 'writeFile':
        this.#names.add(path);
        this.#lengths.set(path, 0);
        break;
      case 'link':
      case 'rename': {
        const to = resolve(String(args[1]));
        this.#names.add(to);
        const length = this.#lengths.get(path);
        if (length === undefined) this.#lengths.delete(to);
        else this.#lengths.set(to, length);
        if (name === 'link') break;
        this.#names.delete(path);
        this.#lengths.delete(path);
        break;
      }
      case 'rm':
        this.#names.delete(path);
        this.#lengths.delete(path);
        break;
      case 'fdatasync':
      case 'fsync':
        if (fs.statSync(path).isDirectory()) {
          for (const made of this.#names) if (dirname(made) === path) this.#names.delete(made);
        } else {
          this.#lengths.set(path, fs.statSync(path).size);
        }
        break;
      default:
        break;
    }
  }

  cut(real: ReadonlyMap<string, Call>): void {
    for (const [path, length] of this.#lengths) {
      if (!fs.existsSync(path) || fs.statSync(path).size <= length) continue;
      const fd = (real.get('openSync') as Call)(path, 'r+') as number;
      // Half of what was on its way may have arrived.
      const arrived = length + ((fs.fstatSync(fd).size - length) >> 1);
      (real.get('ftruncateSync') as Call)(fd, basename(path).endsWith('.jsonl') ? arrived : length);
      (real.get('closeSync') as Call)(fd);
    }
    for (const path of this.#names) (real.get('rmSync') as Call)(path, { recursive: true, force: true });
  }
}
