/**
 * One writer a session.
 *
 * Promise: the lock of a dead process is taken over at once, that of a living one never; a number that the system gave
 * to another process in the meantime fools nobody; two that take over at the same time end with one winner. A writer that
 * lost its lock finds out before it writes again.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ChassisError } from '@chassis/errors';
import { FILE_MODE, isCode, misplaced, readIfThere, statIfThere } from './disk.ts';

/** Who holds a lock. */
export interface Holder {
  readonly pid: number;
  /** The kernel's boot id: process numbers start anew with it. */
  readonly boot: string;
  /** Start time of the process in clock ticks since boot, as the kernel counts. */
  readonly started: string;
  /** The process-id namespace, so that a container's numbers are not taken for ours. */
  readonly namespace: string;
  readonly host: string;
  /** The machine's own id, for two that share a host name. */
  readonly machine: string;
  readonly nonce: string;
  /** Rises with every takeover. */
  readonly fence: number;
  /** Milliseconds since the epoch; information only. */
  readonly since: number;
}

/** `dead`: certainly gone. `unknown`: in another container or on another machine, which cannot be asked. */
export type Liveness = 'alive' | 'dead' | 'unknown';

export class Lock {
  readonly path: string;
  readonly holder: Holder;
  /** Whether another process' lock was taken over. */
  readonly takenOver: boolean;
  /** Number and time of our file: a number alone may be given out again. */
  readonly #file: string;

  constructor(path: string, holder: Holder, takenOver: boolean) {
    this.path = path;
    this.holder = holder;
    this.takenOver = takenOver;
    this.#file = fileIdentity(path) ?? '';
  }

  /** Throws Conflict when somebody else has the lock now. */
  check(): void {
    if (fileIdentity(this.path) === this.#file) return;
    const now = readHolder(this.path);
    const who = now ? `process ${now.pid} on ${now.host} has taken it over` : 'its lock file is gone';
    throw new ChassisError('Conflict', `this session is no longer ours to write: ${who}`, {
      data: { holder: now ?? null },
    });
  }

  release(): void {
    if (readHolder(this.path)?.nonce === this.holder.nonce) rmSync(this.path, { force: true });
  }
}

function fileIdentity(path: string): string | undefined {
  const stat = statIfThere(path);
  return stat && `${stat.ino} ${stat.mtimeMs}`;
}

/**
 * Takes the lock.
 * @param force takes it also from a holder that cannot be asked (another host or container), never from a living one
 * @throws ChassisError Conflict naming the holder
 */
export function takeLock(path: string, what: string, force = false): Lock {
  // A lock that is no file of ours, also a link, can be neither read nor taken over.
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() === false) throw misplaced(path, 'no file, where the lock should be');
  for (let attempt = 0; attempt < 100; attempt++) {
    const current = readHolder(path);
    if (current === undefined) {
      const holder = identity(1);
      if (claim(path, holder)) return new Lock(path, holder, false);
      if (current === undefined && isUnreadable(path)) {
        // A file that is no lock: nothing of ours ever leaves one, so a person or a damaged disk did.
        const made = takeOver(path, { fence: 0, nonce: '' }, identity(1));
        if (made) return made;
      }
      continue;
    }
    const state = liveness(current);
    if (state === 'alive' || (state === 'unknown' && !force)) throw held(what, current, state);
    const made = takeOver(path, current, identity(current.fence + 1));
    if (made) return made;
  }
  throw new ChassisError('Conflict', `${what} is being opened by several processes at once; try again`);
}

/** The holder of a lock, or undefined when there is none (or it cannot be read). */
export function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readIfThere(path)?.toString('utf8') ?? '') as Holder;
    return typeof holder.pid === 'number' && typeof holder.nonce === 'string' ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process that wrote a lock still lives. */
export function liveness(holder: Holder): Liveness {
  const self = identity(0);
  if (holder.host !== self.host || holder.machine !== self.machine) return 'unknown';
  if (holder.boot !== self.boot) return 'dead';
  if (holder.namespace !== self.namespace) return 'unknown';
  const started = startTime(holder.pid);
  if (started === undefined) return 'dead';
  return started === holder.started ? 'alive' : 'dead';
}

/** Exclusive creation with the content already in place: nobody ever sees an empty lock. */
function claim(path: string, holder: Holder): boolean {
  const temporary = `${path}.${holder.nonce}`;
  writeFileSync(temporary, `${JSON.stringify(holder)}\n`, { flag: 'wx', mode: FILE_MODE });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Replaces a dead holder. The next fence number is claimed by exclusive creation first, so that of two that try only one
 * gets to the rename; whoever comes late sees the new lock and starts over.
 */
function takeOver(path: string, dead: Pick<Holder, 'fence' | 'nonce'>, holder: Holder): Lock | undefined {
  const claimed = `${path}.fence-${holder.fence}`;
  if (!claim(claimed, holder)) {
    removeDeadClaim(claimed);
    return undefined;
  }
  if ((readHolder(path)?.nonce ?? '') !== dead.nonce) {
    rmSync(claimed, { force: true });
    return undefined;
  }
  try {
    renameSync(claimed, path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  return readHolder(path)?.nonce === holder.nonce ? new Lock(path, holder, true) : undefined;
}

/** A claim whose process died before it was done. It is moved away first: only one can move it, and a fresh one is seen. */
function removeDeadClaim(path: string): void {
  const claimer = readHolder(path);
  if (!claimer || liveness(claimer) !== 'dead') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return;
  }
  const aside = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    renameSync(path, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

function isUnreadable(path: string): boolean {
  return readIfThere(path) !== undefined && readHolder(path) === undefined;
}

function held(what: string, holder: Holder, state: Liveness): ChassisError {
  const since = new Date(holder.since).toISOString();
  const who = `process ${holder.pid} on ${holder.host} (since ${since})`;
  const message =
    state === 'alive'
      ? `${what} is open for writing in ${who}`
      : `${what} was opened for writing by ${who}, which cannot be asked from here; if it is gone, use --force`;
  return new ChassisError('Conflict', message, { data: { holder, state } });
}

function identity(fence: number): Holder {
  return {
    pid: process.pid,
    boot: bootId(),
    started: startTime(process.pid) ?? '',
    namespace: pidNamespace(),
    host: hostname(),
    machine: readIfThere('/etc/machine-id')?.toString('utf8').trim() ?? '',
    nonce: randomBytes(16).toString('hex'),
    fence,
    since: Date.now(),
  };
}

function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.toString('utf8').trim() ?? '';
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Start time of a living process; a zombie is dead. Without /proc every living process has the same, empty one. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in parentheses and may itself hold any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    if (process.platform === 'linux') return undefined;
  }
  try {
    process.kill(pid, 0);
    return '';
  } catch (error) {
    return isCode(error, 'EPERM') ? '' : undefined;
  }
}
