/** The few operations by which bytes get to a disk: one place to make them durable, and one to make them fail in tests. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { ChassisError } from '@chassis/errors';

/** What a writer needs of a disk. Every failure is a rejection with the system's error. */
export interface Disk {
  /** Opens for reading and writing; `wx+` creates and never opens an existing file. */
  open(path: string, flags: 'r+' | 'wx+'): Promise<number>;
  /** Writes at a position; may write less than asked. */
  write(fd: number, bytes: Buffer, position: number): Promise<number>;
  datasync(fd: number): Promise<void>;
  truncate(fd: number, length: number): Promise<void>;
  close(fd: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes new names in a folder durable. */
  syncFolder(path: string): Promise<void>;
}

export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

function call<T>(run: (done: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    run((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

export const realDisk: Disk = {
  async open(path, flags) {
    if (flags === 'r+') mustBeFile(path);
    return call((done) => fs.open(path, flags, FILE_MODE, done));
  },
  write: (fd, bytes, position) =>
    call((done) => fs.write(fd, bytes, 0, bytes.length, position, (error, written) => done(error, written))),
  datasync: (fd) => call((done) => fs.fdatasync(fd, done)),
  truncate: (fd, length) => call((done) => fs.ftruncate(fd, length, done)),
  close: (fd) => call((done) => fs.close(fd, done)),
  rename: (from, to) => call((done) => fs.rename(from, to, done)),
  async syncFolder(path) {
    const fd = await call<number>((done) => fs.open(path, 'r', done));
    try {
      await call<void>((done) => fs.fsync(fd, done));
    } finally {
      await call<void>((done) => fs.close(fd, done));
    }
  },
};

/** As `syncFolder` of a disk, for what is made before anything is recorded. */
export function syncFolderNow(path: string): void {
  const fd = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes everything, however many writes it takes. */
async function writeAll(disk: Disk, fd: number, bytes: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const written = await disk.write(fd, bytes.subarray(done), position + done);
    if (written <= 0) throw Object.assign(new Error('the disk took no bytes'), { code: 'EIO' });
    done += written;
  }
}

/** Puts a whole file in place: nobody ever sees a part of it, and it is durable when this resolves. */
export async function placeFile(disk: Disk, path: string, bytes: Buffer): Promise<void> {
  const temporary = join(dirname(path), `.tmp-${randomBytes(8).toString('hex')}`);
  const fd = await disk.open(temporary, 'wx+');
  try {
    try {
      await writeAll(disk, fd, bytes, 0);
      await disk.datasync(fd);
    } finally {
      await disk.close(fd);
    }
    await disk.rename(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** What stands at a path; undefined when nothing does, or a link that leads nowhere. */
export function statIfThere(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

/** @returns the error for what is not what it should be */
export function misplaced(path: string, what: string): ChassisError {
  return new ChassisError('DamagedRecord', `${path} is ${what}; move it away`, {
    data: { path, fix: `move ${path} away` },
  });
}

/**
 * Makes sure that what is going to be opened is a file: a pipe would be waited for without end, and a device never ends.
 * @throws DamagedRecord when something else stands there, and the system's error when nothing does
 */
export function mustBeFile(path: string): void {
  const stat = fs.statSync(path);
  if (stat.isFile()) return;
  const what = stat.isDirectory() ? 'a folder' : stat.isFIFO() ? 'a pipe' : 'a device or socket';
  throw misplaced(path, `${what}, where a file should be`);
}

/** The bytes of a file. @throws as `mustBeFile` */
export function readFile(path: string): Buffer {
  mustBeFile(path);
  return fs.readFileSync(path);
}

/** Reads a file, or undefined when there is none. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFile(path);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** Bytes of a file from an offset on; fewer where it ends. @throws the system's error */
export function readRange(path: string, offset: number, length: number): Buffer {
  mustBeFile(path);
  const bytes = Buffer.allocUnsafe(length);
  const fd = fs.openSync(path, 'r');
  try {
    let done = 0;
    while (done < length) {
      const read = fs.readSync(fd, bytes, done, length - done, offset + done);
      if (read === 0) break;
      done += read;
    }
    return bytes.subarray(0, done);
  } finally {
    fs.closeSync(fd);
  }
}
