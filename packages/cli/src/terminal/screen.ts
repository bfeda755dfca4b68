/** What the terminal can do: its width, and whether it shows colours (NO_COLOR, FORCE_COLOR and no terminal are honoured). */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Cells of a line on stdout; undefined when nobody knows, so that nothing is cut in a pipe. */
export function screenWidth(): number | undefined {
  const width = process.stdout.columns ?? Number(process.env.COLUMNS);
  return Number.isInteger(width) && width > 0 ? width : undefined;
}

/** Cells to wrap prose at: the terminal's, else 100. */
export function proseWidth(): number {
  return Math.min(screenWidth() ?? 100, 120);
}

export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return text === '' ? '' : styleText(style, text, { stream, validateStream: true });
}
