/**
 * One holder at a time, across processes: a lock file made with O_EXCL.
 *
 * Promise: a holder that died does not block others. It is recognised by its process id on this machine, and
 * elsewhere by a heartbeat that stands still. Runs on Node 20, imports nothing that has to be installed.
 */
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 5_000;
const silentMs = 60_000;
const pollMs = 200;

/**
 * Runs `body` while holding the lock `file`; waits for as long as another holder lives.
 *
 * @param {string} file
 * @param {(line: string) => void} say told once if there is something to wait for
 * @param {() => Promise<void>} body
 */
export async function hold(file, say, body) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), nonce: Math.random() });
  const seen = { holder: '', beat: 0, since: 0 };
  let said = false;
  while (!create(file, mine)) {
    if (isStale(file, seen)) takeAway(file, seen.holder);
    else {
      if (!said) say('another call is at work, waiting for it');
      said = true;
      await sleep(pollMs);
    }
  }
  const beat = setInterval(() => touch(file), heartbeatMs);
  try {
    await body();
  } finally {
    clearInterval(beat);
    if (read(file) === mine) rmSync(file, { force: true });
  }
}

function create(file, content) {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

/** Judges the holder by this process's own watching, so that a clock that jumps or differs changes nothing. */
function isStale(file, seen) {
  const holder = read(file);
  if (holder === undefined) return false;
  const beat = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (holder !== seen.holder || beat !== seen.beat)
    Object.assign(seen, { holder, beat, since: performance.now() });
  if (performance.now() - seen.since > silentMs) return true;
  let owner;
  try {
    owner = JSON.parse(holder);
  } catch {
    return false; // half written: either finished in a moment, or its writer died and it stays silent
  }
  return owner.host === hostname() && !isAlive(owner.pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Removes the lock of a dead holder; if another call was faster and holds it by now, puts that one back. */
function takeAway(file, stale) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== stale) linkSync(aside, file);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
