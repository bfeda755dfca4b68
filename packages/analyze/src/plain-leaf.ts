/** A value in a text that is no JSON, with its place. */

export interface PlainLeaf {
  /** Within the data that the text holds. */
  readonly pointer: string;
  readonly range: readonly [number, number];
  readonly text: string;
  /** Whether it is a string: not written as JSON writes numbers and words. */
  readonly quoted: boolean;
}

/** A leaf; a value in quotation marks is what stands between them. */
export function leafAt(path: string, text: string, start: number, value: string): PlainLeaf {
  const quoted = /^(["']).*\1$/.test(value) && value.length > 1;
  const [from, to] = quoted ? [start + 1, start + value.length - 1] : [start, start + value.length];
  const own = text.slice(from, to);
  return { pointer: path, range: [from, to], text: own, quoted: quoted || !isWord(own) };
}

/** Whether a value is written as JSON writes it, and so no string. */
function isWord(text: string): boolean {
  return /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?|true|false|null)$/.test(text);
}
