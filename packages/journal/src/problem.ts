/** What can be wrong with a record, and how it is said in one line. */

export interface Problem {
  readonly kind: string;
  readonly message: string;
  readonly file?: string;
  readonly offset?: number;
  readonly length?: number;
  readonly seq?: number;
  /** SHA-256 of the line that stands where events are missing, so that a loss that is on record is known again. */
  readonly digest?: string;
}

/** A problem in one line. */
export function describeProblem({ message, file, offset, length }: Problem): string {
  if (file === undefined) return message;
  const place = [file, ...(offset === undefined ? [] : [`byte ${offset}`])];
  return `${message} (${[...place, ...(length === undefined ? [] : [`${length} bytes`])].join(', ')})`;
}

/**
 * Whether events or values of the record are gone. A last line that was cut off is where a crash ended it, and a line of a
 * writer that had lost its lock was never part of it; a snapshot can be made again.
 */
export function isLoss({ kind }: Problem): boolean {
  return kind !== 'torn' && kind !== 'stale' && kind !== 'snapshot';
}
