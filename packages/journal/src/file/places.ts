/**
 * The offset table of an open segment: now and then the number of an event and the byte at which its line begins, so that
 * nobody reads a segment from its start to find one event.
 *
 * It is derived: a missing, stale or damaged one costs time only. When the segment is sealed, frames take its part.
 */
import { appendFileSync, rmSync } from 'node:fs';
import { FILE_MODE, readIfThere } from './disk.ts';
import type { Segment } from './layout.ts';

export interface Place {
  readonly seq: number;
  readonly offset: number;
}

/** Bytes of a segment between two places, at least. */
const DISTANCE = 256 * 1024;

/** Notes the places of one segment after another while they are written. */
export class Places {
  #path = '';
  #noted = 0;

  /** A batch of lines has been written. @param length of the segment before it */
  written(path: string, seq: number, length: number): void {
    if (path !== this.#path) {
      this.#path = path;
      this.#noted = length;
    }
    if (length - this.#noted < DISTANCE) return;
    this.#noted = length;
    try {
      appendFileSync(placesOf(path), `${seq} ${length}\n`, { mode: FILE_MODE });
    } catch {
      // The log itself will tell what is wrong with the disk.
    }
  }
}

/** The places of a plain segment in order, its beginning first. */
export function readPlaces({ path, first }: Segment, size: number): readonly Place[] {
  const places: Place[] = [{ seq: first, offset: 0 }];
  const text = readIfThere(placesOf(path))?.toString('latin1') ?? '';
  for (const [, seq, offset] of text.matchAll(/^(\d{1,15}) (\d{1,15})$/gm)) {
    const place = { seq: Number(seq), offset: Number(offset) };
    // What a writer noted before it was cut back is replaced by what the next one notes.
    while (places.length > 1 && (places.at(-1) as Place).offset >= place.offset) places.pop();
    const last = places.at(-1) as Place;
    if (place.offset < size && place.seq > last.seq && place.offset > last.offset) places.push(place);
  }
  return places;
}

export function dropPlaces(plainPath: string): void {
  rmSync(placesOf(plainPath), { force: true });
}

function placesOf(plainPath: string): string {
  return `${plainPath}.places`;
}
