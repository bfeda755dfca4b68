/**
 * Secrets known to this process, and keys that give themselves away by their shape.
 *
 * Promise: what passes through `redact` shows neither; a secret stands there as `{{secret:NAME}}`. Text that only looks
 * like such a mark comes back from a log as it was: it is written with one `$` more.
 */
import type { Json } from '@chassis/types';
import { isExactNumber, setMember } from './json.ts';
import { formsOf, jsonEscaped, KEY_SHAPES, MIN_SECRET, mayHoldKey, OPEN_KEY } from './secret-forms.ts';

const DETECTED = '{{secret:detected}}';

export class Secrets {
  readonly #detect: boolean;
  /** Each form of each value → the mark that stands for it. */
  readonly #marks = new Map<string, string>();
  /** The forms as they stand in JSON text: one hit there makes a closer look necessary. */
  #needles: string[] = [];
  #pattern: RegExp | undefined;
  #longest = 0;
  #revision = 0;

  /** @param options `detect: false` switches off the recognition of unknown keys by their shape */
  constructor(options: { readonly detect?: boolean } = {}) {
    this.#detect = options.detect ?? true;
  }

  /** Counts changes, for those who remember what they redacted. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Guards a value from now on.
   * @returns false for one shorter than 6 characters: replacing it would garble ordinary text
   */
  add(name: string, value: string): boolean {
    if (value.length < MIN_SECRET) return false;
    const mark = `{{secret:${name.replace(/[^A-Za-z0-9_.-]/g, '_')}}}`;
    for (const form of formsOf(value)) if (!this.#marks.has(form)) this.#marks.set(form, mark);
    // The longest first: a secret may contain another one.
    const forms = [...this.#marks.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(forms.map((form) => RegExp.escape(form)).join('|'), 'g');
    this.#needles = [...new Set(forms.map(jsonEscaped))];
    this.#longest = forms[0]?.length ?? 0;
    this.#revision++;
    return true;
  }

  /** Whether JSON text (or any text) may hold something to redact. Never wrong with "no". */
  suspects(json: string): boolean {
    for (const needle of this.#needles) if (json.includes(needle)) return true;
    return this.#detect && mayHoldKey(json);
  }

  /** Whether bytes hold a known secret, for files that must then not be stored. */
  heldBy(bytes: Uint8Array): boolean {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const form of this.#marks.keys()) if (view.includes(form)) return true;
    return false;
  }

  /** The value with every secret replaced: strings, names of members, and numbers that are one. The value itself when there is none. */
  redact<T>(value: T): T {
    return this.#walk(value as Json, (text) => this.#replace(text)) as T;
  }

  /** As `redact`, for text that goes into a log: what merely looks like a mark gets one more `$`. */
  redactForLog<T>(value: T): T {
    return this.#walk(value as Json, (text) => this.#replace(escapeMarks(text))) as T;
  }

  /**
   * How much of a streamed text may be passed on: the rest may be the beginning of a secret whose end is still to come.
   * @returns the length of the safe part
   */
  safeLength(text: string): number {
    let held = 0;
    if (this.#longest > 0) {
      const tail = text.slice(-(this.#longest - 1));
      for (const form of this.#marks.keys()) {
        for (let length = Math.min(form.length - 1, tail.length); length > held; length--) {
          if (tail.endsWith(form.slice(0, length))) held = length;
        }
      }
    }
    if (this.#detect) {
      const open = OPEN_KEY.exec(text.slice(-8300));
      if (open) held = Math.max(held, open[0].length);
    }
    return text.length - held;
  }

  #replace(text: string): string {
    let clean = text;
    if (this.#pattern) clean = clean.replace(this.#pattern, (form) => this.#marks.get(form) ?? DETECTED);
    if (this.#detect && mayHoldKey(clean)) clean = clean.replace(KEY_SHAPES, DETECTED);
    return clean;
  }

  #walk(value: Json, change: (text: string) => string): Json {
    switch (typeof value) {
      case 'string':
        return change(value);
      case 'number':
        return this.#marks.get(String(value)) ?? value;
      case 'object': {
        if (value === null) return value;
        if (isExactNumber(value)) return this.#marks.get(value.rawJSON) ?? value;
        let changed = false;
        if (Array.isArray(value)) {
          const list = (value as readonly Json[]).map((item) => {
            const clean = this.#walk(item, change);
            changed ||= clean !== item;
            return clean;
          });
          return changed ? list : value;
        }
        const copy: Record<string, Json> = {};
        for (const [key, member] of Object.entries(value)) {
          const cleanKey = change(key);
          const clean = this.#walk(member as Json, change);
          changed ||= clean !== member || cleanKey !== key;
          setMember(copy, cleanKey, clean);
        }
        return changed ? copy : value;
      }
      default:
        return value;
    }
  }
}

/** Literal `{{secret:…` gets one more `$`, so that it is not taken for a mark. Works on values and on JSON text alike. */
export function escapeMarks(text: string): string {
  return text.includes('{{') ? text.replace(/\{\{(\$*)secret:/g, '{{$$$1secret:') : text;
}

/** Undoes `escapeMarks`. */
export function unescapeMarks(text: string): string {
  return text.includes('{{$') ? text.replace(/\{\{\$(\$*)secret:/g, '{{$1secret:') : text;
}
