/**
 * Schemas of many methods in one document.
 *
 * Promise: a reference within a schema (`#`, `#/$defs/…`) means the same after the schema has become a part of the document:
 * what it points to is kept once under `components.schemas`, and the reference is written anew.
 */
type Json = Record<string, unknown>;

const at = '#/components/schemas/';
const definitions = ['$defs', 'definitions'];
/** Keywords whose value is a map from names to schemas; the names are no keywords. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', ...definitions]);
/** Keywords whose value is data. */
const data = new Set(['const', 'default', 'enum', 'example', 'examples']);

export class SharedSchemas {
  readonly schemas: Json = {};
  readonly #sources = new Map<string, string>();

  /**
   * Takes one schema into the document.
   *
   * @param name names the schema if something in it points to the whole
   * @returns the schema to put where it is used
   */
  add(schema: Json, name: string): Json {
    const { $schema: _dialect, ...root } = schema;
    if (!refersWithin(root)) return root;
    const all = JSON.stringify(definitions.map((keyword) => root[keyword]));
    const sourceOf = (value: unknown): string =>
      refersWithin(value) ? `${JSON.stringify(value)} in ${all}` : JSON.stringify(value);
    const renamed = new Map<string, string>();
    for (const keyword of definitions) {
      for (const [key, value] of Object.entries((root[keyword] ?? {}) as Json)) {
        renamed.set(`#/${keyword}/${pointerPart(key)}`, this.#reserve(key, sourceOf(value), value));
      }
    }
    let whole: string | undefined;
    const rewrite = (ref: string): string => {
      for (const [from, to] of renamed) {
        if (ref === from || ref.startsWith(`${from}/`)) return `${at}${to}${ref.slice(from.length)}`;
      }
      whole ??= this.#reserve(name, JSON.stringify(root), root);
      return `${at}${whole}${ref.slice(1)}`;
    };
    for (const keyword of definitions) {
      for (const [key, value] of Object.entries((root[keyword] ?? {}) as Json)) {
        const to = renamed.get(`#/${keyword}/${pointerPart(key)}`) as string;
        this.schemas[to] = moved(value, rewrite);
      }
    }
    const { $defs: _defs, definitions: _definitions, ...rest } = root;
    const own = moved(rest, rewrite) as Json;
    if (whole === undefined) return own;
    this.schemas[whole] = own;
    return { $ref: `${at}${whole}` };
  }

  /** The schema itself, if it is only a reference to one that was taken in. */
  resolve(schema: Json): Json {
    let here = schema;
    for (let steps = 0; typeof here.$ref === 'string' && steps < 16; steps++) {
      const next = here.$ref.startsWith(at) ? this.schemas[here.$ref.slice(at.length)] : undefined;
      if (typeof next !== 'object' || next === null) return here;
      here = next as Json;
    }
    return here;
  }

  /** A name of its own for everything that is not the same; `source` says what is. */
  #reserve(wanted: string, source: string, value: unknown): string {
    const plain = wanted.replaceAll(/[^\w.-]/g, '_') || '_';
    for (let n = 1; ; n++) {
      const name = n === 1 ? plain : `${plain}_${n}`;
      const taken = this.#sources.get(name);
      if (taken === source) return name;
      if (taken !== undefined) continue;
      this.#sources.set(name, source);
      this.schemas[name] = value;
      return name;
    }
  }
}

function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether a schema has a reference that only its own document resolves. */
function refersWithin(schema: unknown): boolean {
  let found = false;
  moved(schema, (ref) => {
    found = true;
    return ref;
  });
  return found;
}

/** A copy with each `$ref` into its own document rewritten. */
function moved(schema: unknown, rewrite: (ref: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => moved(each, rewrite));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (data.has(keyword)) return [keyword, value];
    if (keyword === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value))
      return [keyword, rewrite(value)];
    if (maps.has(keyword) && typeof value === 'object' && value !== null) {
      const each = Object.entries(value).map(([name, inside]) => [name, moved(inside, rewrite)]);
      return [keyword, Object.fromEntries(each)];
    }
    return [keyword, moved(value, rewrite)];
  });
  return Object.fromEntries(copy);
}
