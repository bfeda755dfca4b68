/** Reads a body up to a limit, and turns it into text by its charset. */

export interface Body {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

/** Stops reading, and ends the transfer, once `limit` bytes are there and more comes. */
export async function readBody(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Body> {
  if (stream === null) return { bytes: new Uint8Array(), truncated: false };
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream.
  for await (const piece of stream) {
    const room = limit - size;
    pieces.push(piece.subarray(0, room));
    size += Math.min(piece.length, room);
    if (piece.length > room) return { bytes: Buffer.concat(pieces), truncated: true };
  }
  return { bytes: Buffer.concat(pieces), truncated: false };
}

export type Text =
  | { readonly text: string; readonly binary: false; readonly charset: string; readonly invalid_text?: true }
  | { readonly text: null; readonly binary: true };

const TEXT_TYPE =
  /^(text\/|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|x-www-form-urlencoded|x-sh)$|.*\+(json|xml|yaml)$)/;

/** @param contentType the header's value, or null */
export function decodeBody({ bytes, truncated }: Body, contentType: string | null): Text {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const mime = type.trim();
  const named = parameters
    .map((p) => /^\s*charset\s*=\s*"?([^\s"]+)/.exec(p)?.[1])
    .find((c) => c !== undefined);
  const likely = TEXT_TYPE.test(mime) || named !== undefined;
  if (!likely && (mime !== '' || bytes.subarray(0, 8192).includes(0))) return { text: null, binary: true };

  const charset = markOf(bytes) ?? known(named) ?? known(metaCharset(bytes, mime)) ?? 'utf-8';
  // `stream` drops a character that the limit cut in half instead of calling it wrong.
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: truncated });
    return { text, binary: false, charset };
  } catch {
    if (!likely) return { text: null, binary: true };
    const text = new TextDecoder(charset).decode(bytes, { stream: truncated });
    return { text, binary: false, charset, invalid_text: true };
  }
}

function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** What an HTML page says about itself in its first 1,024 bytes. */
function metaCharset(bytes: Uint8Array, mime: string): string | undefined {
  if (mime !== 'text/html' && mime !== 'application/xhtml+xml') return undefined;
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]+charset\s*=\s*["']?([^\s"'/>;]+)/i.exec(start)?.[1];
}

/** The decoder's own name of a charset, or undefined when it knows none of that name. */
function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
