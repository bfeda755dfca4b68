/** `--set PATH=JSON`: a JSON Pointer into what a step answered, and the value that stands there instead. */
import { type Edit, parseJson, parsePointer } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { usage } from './failure.ts';

/** @throws InvalidParams that points at the place of the mistake */
export function editOf(text: string, step: number): Edit {
  const equals = text.indexOf('=');
  if (equals < 0) throw usage(`--set ${text}: write PATH=JSON, for example /output/total=42`);
  const path = text.slice(0, equals).trim();
  parsePointer(path);
  return { step, path, value: jsonOf(text, text.slice(equals + 1), equals + 1) };
}

function jsonOf(whole: string, text: string, start: number): Json {
  try {
    return parseJson(text);
  } catch {
    const column = start + firstWrong(text) + 1;
    const quoted = /^[^"{[]/.test(text.trim()) ? `; a text needs quotes: ${JSON.stringify(text.trim())}` : '';
    throw usage(`--set ${whole}: column ${column}: what stands right of = is no JSON${quoted}`, {
      column,
      received: text,
    });
  }
}

/** Where a text stops being the beginning of some JSON; not every message of the parser says so. */
function firstWrong(text: string): number {
  for (let length = 1; length <= Math.min(text.length, 2000); length++) {
    try {
      JSON.parse(text.slice(0, length));
    } catch (error) {
      const { message } = error as Error;
      const at = /position (\d+)/.exec(message)?.[1];
      const endsEarly =
        /end of JSON|unterminated/i.test(message) || (at !== undefined && Number(at) >= length);
      if (!endsEarly) return length - 1;
    }
  }
  return text.length;
}
