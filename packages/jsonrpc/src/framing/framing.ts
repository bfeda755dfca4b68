/**
 * How messages are told apart in a stream of bytes: the choice between the framings.
 */
import { ContentLengthDecoder, frameWithHeader } from './content-length.ts';
import type { Decoder } from './decoder.ts';
import { frameLine, LineDecoder } from './ndjson.ts';

/** Newline-delimited JSON, or `Content-Length` headers as in the Language Server Protocol. */
export type FramingName = 'ndjson' | 'content-length';

export interface Framing {
  readonly decoder: (maxMessageBytes: number) => Decoder;
  readonly frame: (text: string) => string;
}

const framings: Record<FramingName, Framing> = {
  ndjson: { decoder: (limit) => new LineDecoder(limit), frame: frameLine },
  'content-length': { decoder: (limit) => new ContentLengthDecoder(limit), frame: frameWithHeader },
};

/** @throws TypeError for a name that is none of the two */
export function framingOf(name: FramingName = 'ndjson'): Framing {
  if (!Object.hasOwn(framings, name)) {
    throw new TypeError(`unknown framing "${name}"; use "ndjson" or "content-length"`);
  }
  return framings[name];
}
