/** Bytes that may be text: exact UTF-8 or nothing. */

const exact = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, its byte-order mark included, or undefined when the bytes are no valid UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return exact.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A NUL in the first 8 KiB: what git and grep call binary. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

/** The bytes without a UTF-8 character that was cut at the end. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}
