/**
 * The JSON that a YAML tree stands for: no NaN, no dates, no shared references, nothing that a double cannot hold exactly.
 *
 * Promise: every problem is reported with its place; an alias bomb costs no more than the limit of aliases.
 */
import { boolCoreTag, floatCoreTag, intCoreTag, NOT_RESOLVED, nullCoreTag } from 'js-yaml';
import { pointerToken } from './issue.ts';
import type { ScalarNode, YamlNode } from './yaml-nodes.ts';

/** Aliases followed, those inside an alias's target included: a bomb needs thousands, a person a few. */
const MAX_ALIASES = 1000;

const CORE = 'tag:yaml.org,2002:';
const COLLECTIONS = { mapping: `${CORE}map`, sequence: `${CORE}seq` };
const UNTAGGED = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];
/** What any of them may begin with: most texts are none of them. */
const MAY_BE_OTHER = /^(?:$|[-+.\d~nNtTfF])/;

/** Takes a problem of a node: its offset, its JSON Pointer. */
export type Complain = (offset: number, path: string, message: string) => void;

/** @param maxDepth levels of nesting, those of aliases' targets included */
export function plainValue(root: YamlNode, maxDepth: number, complain: Complain): unknown {
  let aliases = 0;
  let overflow = false;
  const open = new Set<YamlNode>();

  const read = (node: YamlNode, path: string, depth: number): unknown => {
    if (overflow) return null;
    if (depth > maxDepth) {
      overflow = true;
      complain(node.start, path, `nested deeper than ${maxDepth} levels`);
      return null;
    }
    if (node.kind === 'alias') {
      if (++aliases > MAX_ALIASES) {
        overflow = true;
        complain(node.start, path, `more than ${MAX_ALIASES} aliases to follow`);
        return null;
      }
      const { name, target } = node;
      if (target !== undefined && !open.has(target)) return read(target, path, depth);
      const what = target === undefined ? 'has no anchor before it' : 'contains itself';
      complain(node.start, path, `alias *${name} ${what}`);
      return null;
    }
    if (node.kind === 'scalar') return scalar(node, path, complain);
    if (node.tag !== undefined && node.tag.name !== COLLECTIONS[node.kind])
      complain(node.tag.start, path, unknownTag(node.tag.name));
    open.add(node);
    const value = node.kind === 'sequence' ? list(node.items) : object(node.pairs);
    open.delete(node);
    return value;

    function list(items: readonly YamlNode[]): unknown[] {
      return items.map((item, i) => read(item, `${path}/${i}`, depth + 1));
    }

    function object(pairs: readonly { readonly key: YamlNode; readonly value: YamlNode }[]): object {
      const made: Record<string, unknown> = {};
      for (const { key, value } of pairs) {
        if (key.kind !== 'scalar') {
          complain(key.start, path, 'a key must be plain text, not a list or an object');
          continue;
        }
        if (key.tag !== undefined && !isText(key.tag.name))
          complain(key.tag.start, path, unknownTag(key.tag.name));
        const name = key.text;
        if (Object.hasOwn(made, name))
          complain(key.start, path, 'this key is already there; keys must be unique');
        const inner = read(value, `${path}/${pointerToken(name)}`, depth + 1);
        // Assigned, a key named __proto__ would be no key.
        if (name !== '__proto__') made[name] = inner;
        else
          Object.defineProperty(made, name, {
            value: inner,
            enumerable: true,
            writable: true,
            configurable: true,
          });
      }
      return made;
    }
  };

  return read(root, '', 0);
}

function scalar(node: ScalarNode, path: string, complain: Complain): unknown {
  const { text, tag } = node;
  if (tag !== undefined) return tagged(node, tag, path, complain);
  if (!node.isPlain || !MAY_BE_OTHER.test(text)) return text;
  for (const { resolve, tagName } of UNTAGGED) {
    const value: unknown = resolve(text, false, tagName);
    if (value !== NOT_RESOLVED) return number(value, node, path, complain);
  }
  // Digits that are more than any double are no text either.
  return /^[-+.\d]/.test(text) && Math.abs(Number(text)) === Number.POSITIVE_INFINITY && /\d/.test(text)
    ? number(Number(text), node, path, complain)
    : text;
}

function tagged(
  node: ScalarNode,
  { name, start }: NonNullable<ScalarNode['tag']>,
  path: string,
  complain: Complain,
): unknown {
  if (isText(name)) return node.text;
  const known = UNTAGGED.find((one) => one.tagName === name);
  const value: unknown = known === undefined ? NOT_RESOLVED : known.resolve(node.text, true, name);
  if (value !== NOT_RESOLVED) return number(value, node, path, complain);
  complain(
    start,
    path,
    known === undefined ? unknownTag(name) : `"${node.text}" is no ${name.slice(CORE.length)}`,
  );
  return null;
}

function number(value: unknown, { text, start }: ScalarNode, path: string, complain: Complain): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) complain(start, path, `${text} is no JSON number`);
  else if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(text))
    complain(start, path, `${text} is too large for an exact number; put it in quotes`);
  else return value;
  return null;
}

function isText(tag: string): boolean {
  return tag === '!' || tag === `${CORE}str`;
}

function unknownTag(name: string): string {
  return `unknown tag: ${name}; tags are not supported`;
}
