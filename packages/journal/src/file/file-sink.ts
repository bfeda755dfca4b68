/** Lines and blobs of one open session on their way to files, and what happens to finished segments. */
import type { Resolve } from '../blob-ref.ts';
import type { KeepBlob } from '../data-codec.ts';
import type { Page, Sink } from '../recorder.ts';
import type { Appender } from './appender.ts';
import type { BlobFiles } from './blob-files.ts';
import type { Disk } from './disk.ts';
import type { SessionLayout } from './layout.ts';
import { sealSegment } from './seal.ts';

export class FileSink implements Sink {
  readonly keepBlob: KeepBlob;
  readonly resolve: Resolve;
  readonly #appender: Appender;
  readonly #finish: () => Promise<void>;

  /** @param finish runs once everything is on disk, or can get there no more */
  constructor(appender: Appender, blobs: BlobFiles, finish: () => Promise<void>) {
    this.keepBlob = blobs.keep;
    this.resolve = blobs.resolve;
    this.#appender = appender;
    this.#finish = finish;
  }

  get failed(): Error | undefined {
    return this.#appender.failed;
  }

  get written(): number {
    return this.#appender.written;
  }

  write(line: Buffer, seq: number): Page {
    return this.#appender.write(line, seq);
  }

  barrier(): Promise<void> {
    return this.#appender.barrier();
  }

  async close(): Promise<void> {
    try {
      await this.#appender.close();
    } finally {
      await this.#finish();
    }
  }
}

/** Seals finished segments one after the other, behind the writer's back. One that cannot be sealed stays plain. */
export class Sealing {
  readonly #disk: Disk;
  readonly #session: SessionLayout;
  #queue: Promise<void> = Promise.resolve();

  constructor(disk: Disk, session: SessionLayout) {
    this.#disk = disk;
    this.#session = session;
  }

  /** Resolves when nothing is left to seal. */
  get done(): Promise<void> {
    return this.#queue;
  }

  add(first: number): void {
    this.#queue = this.#queue.then(async () => {
      try {
        await sealSegment(this.#disk, this.#session, first);
      } catch (error) {
        process.emitWarning(
          `segment ${this.#session.segment(first)} could not be compressed: ${String(error)}`,
        );
      }
    });
  }
}
