/**
 * Columns, aligned by cells.
 *
 * Promise: no line is wider than the width given, whatever stands in the cells; columns that matter least go first.
 */
import { cells, pad, truncate } from './text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** May be cut down to this many cells when the line is too long; without it the column keeps its width. */
  readonly shrinkTo?: number;
  /** Dropped when the line is still too long: the highest first. Columns without it stay. */
  readonly drop?: number;
  /** Colours a cell; must not change its width. */
  paint?(cell: string, row: number): string;
}

/**
 * @param width cells that a line may take; undefined when there is no limit
 * @returns the header line and one line for each row, without trailing spaces
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width?: number,
): string[] {
  const wanted = columns.map((column, at) =>
    Math.max(cells(column.title), ...rows.map((row) => cells(row[at] ?? ''))),
  );
  const { shown, widths } = fit(columns, wanted, width ?? Number.POSITIVE_INFINITY);
  const line = (row: readonly string[], number: number | null): string => {
    const parts = shown.map((at, place) => {
      const column = columns[at];
      const size = widths[at] ?? 0;
      const text = truncate(row[at] ?? '', size);
      const last = place === shown.length - 1 && column?.align !== 'right';
      const padded = last ? text : pad(text, size, column?.align);
      return number === null || column?.paint === undefined ? padded : column.paint(padded, number);
    });
    return parts.join('  ').trimEnd();
  };
  return [
    line(
      columns.map((column) => column.title),
      null,
    ),
    ...rows.map((row, number) => line(row, number)),
  ];
}

/** First columns go, until the others at their narrowest have room; then the widest give way; then the last ones do. */
function fit(columns: readonly Column[], wanted: readonly number[], width: number) {
  const least = (at: number): number => Math.min(wanted[at] ?? 0, columns[at]?.shrinkTo ?? wanted[at] ?? 0);
  const total = (of: readonly number[], size: (at: number) => number): number =>
    of.reduce((sum, at) => sum + size(at), 2 * Math.max(0, of.length - 1));
  let shown = columns.map((_, at) => at);
  while (total(shown, least) > width) {
    const dropped = shown
      .filter((at) => columns[at]?.drop !== undefined)
      .sort((a, b) => (columns[b]?.drop ?? 0) - (columns[a]?.drop ?? 0))[0];
    if (dropped === undefined) break;
    shown = shown.filter((at) => at !== dropped);
  }
  const widths = [...wanted];
  const now = (at: number): number => widths[at] ?? 0;
  for (let over = total(shown, now) - width; over > 0; over = total(shown, now) - width) {
    const widest = shown.filter((at) => now(at) > least(at)).sort((a, b) => now(b) - now(a))[0];
    if (widest !== undefined) {
      widths[widest] = Math.max(least(widest), now(widest) - over);
      continue;
    }
    const last = shown.at(-1);
    if (last === undefined) break;
    if (now(last) > over) widths[last] = now(last) - over;
    else shown = shown.slice(0, -1);
  }
  return { shown, widths };
}
