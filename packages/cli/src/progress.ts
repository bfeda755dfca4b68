/** That something takes its time is told once, after a second, on stderr. */
import type { Output } from './output.ts';

const SILENT_MS = 1000;

export async function whileWaiting<T>(out: Output, text: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => out.progress(text), SILENT_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
