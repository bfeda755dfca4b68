import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Disk, realDisk } from '../src/file/disk.ts';
import { fileStore } from '../src/index.ts';
import { folder, header, Run } from './build.ts';

type Operation = 'write' | 'datasync' | 'open' | 'rename' | 'syncFolder';

/** A disk that fails once, at the n-th operation of a kind; a write may get some bytes down first. */
function failingDisk(operation: Operation, at: number, code: string, part: number): Disk {
  let count = 0;
  const call = realDisk[operation] as (...args: unknown[]) => Promise<unknown>;
  const fail = async (...args: unknown[]): Promise<unknown> => {
    if (++count !== at) return call(...args);
    if (operation === 'write' && part > 0) {
      const [fd, bytes, position] = args as [number, Buffer, number];
      await realDisk.write(fd, bytes.subarray(0, Math.min(part, bytes.length - 1)), position);
    }
    throw Object.assign(new Error(`${code}: injected`), { code });
  };
  return { ...realDisk, [operation]: fail };
}

test.each([
  ['write', 'ENOSPC', 0],
  ['write', 'EIO', 10],
  ['write', 'ENOSPC', 500],
  ['datasync', 'EIO', 0],
  ['rename', 'EIO', 0],
  ['open', 'ENOSPC', 0],
  ['syncFolder', 'EIO', 0],
] as const)(
  'when a %s fails (%s after %i bytes) the writer stops with an error, and nothing acknowledged is lost',
  async (operation, code, part) => {
    // Segments that cannot be compressed stay plain and say so.
    const quiet = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    for (let at = 1; at <= (process.env.CHASSIS_FULL ? 60 : 5); at++) {
      using dir = folder();
      const store = fileStore({
        root: dir.path,
        disk: failingDisk(operation, at, code, part),
        segmentBytes: 2500,
      });
      let acknowledged = -1;
      let failure: Error | undefined;
      try {
        const writer = await store.create(header('s'));
        acknowledged = 0;
        const run = new Run(writer);
        try {
          for (let i = 0; i < 6; i++) {
            run.tool({ i, text: i === 3 ? 'x'.repeat(9000) : 'y' });
            await writer.barrier();
            acknowledged = writer.view.lastSeq;
          }
        } finally {
          if (writer.failed) {
            expect(() => writer.append('note.added', { text: '', author: '' })).toThrow(writer.failed);
            await expect(writer.barrier()).rejects.toBe(writer.failed);
          }
          await writer.close();
        }
      } catch (error) {
        failure = error as Error;
        expect(failure.message).toMatch(/disk is full|injected/);
      }
      const healthy = fileStore({ root: dir.path, segmentBytes: 2500 });
      if (acknowledged < 0) {
        expect(existsSync(join(dir.path, 'sessions', 's'))).toBe(false);
      } else {
        const writer = await healthy.open('s');
        expect(writer.view.lastSeq).toBeGreaterThanOrEqual(acknowledged);
        await writer.close();
        expect(await healthy.verify('s')).toMatchObject({ ok: true, problems: [] });
      }
      await healthy.close();
      await store.close();
    }
    quiet.mockRestore();
  },
);
