/** XML and HTML in text: the texts of the elements that hold no others, and attributes, under the names on the way to them. */
import { leafAt, type PlainLeaf } from './plain-leaf.ts';
import { pointer } from './pointer.ts';

interface Element {
  readonly name: string;
  readonly children: Element[];
  readonly attributes: { readonly name: string; readonly start: number; readonly value: string }[];
  /** Its own text: where it starts, and what it is. */
  text?: { readonly start: number; readonly value: string };
}

const token =
  /<!--[\s\S]*?-->|<[?!][^>]*>|<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:@.-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*(\/?)>/g;
const attribute = /([\w:@.-]+)\s*=\s*("[^"]*"|'[^']*')/g;
const alone = /^(?:br|hr|img|meta|link|input|col|wbr)$/i;

/** The leaves of markup; empty when its elements do not nest. */
export function markupLeaves(text: string): PlainLeaf[] {
  const root = element('');
  const open = [root];
  let last = 0;
  for (const match of text.matchAll(token)) {
    const top = open.at(-1) ?? root;
    const between = text.slice(last, match.index);
    const value = between.trim();
    if (value !== '') top.text ??= { start: last + between.indexOf(value), value };
    last = match.index + match[0].length;
    const [whole, close, name, attributes = '', empty] = match;
    if (name === undefined) continue;
    if (close) {
      if (top.name !== name || open.length < 2) return [];
      open.pop();
      continue;
    }
    const found = element(name);
    const from = match.index + whole.indexOf(attributes);
    for (const one of attributes.matchAll(attribute)) {
      const [, key = '', quoted = ''] = one;
      const start = from + one.index + one[0].length - quoted.length;
      found.attributes.push({ name: key, start: start + 1, value: quoted.slice(1, -1) });
    }
    top.children.push(found);
    if (!empty && !alone.test(name)) open.push(found);
  }
  const leaves: PlainLeaf[] = [];
  if (open.length === 1) for (const child of root.children) collect(text, child, pointer(child.name), leaves);
  return leaves;
}

function element(name: string): Element {
  return { name, children: [], attributes: [] };
}

function collect(text: string, found: Element, at: string, leaves: PlainLeaf[]): void {
  for (const { name, start, value } of found.attributes)
    leaves.push(leafAt(at + pointer(`@${name}`), text, start, value));
  const bare = found.children.length === 0 && found.attributes.length === 0;
  if (found.text) leaves.push(leafAt(bare ? at : `${at}/text`, text, found.text.start, found.text.value));
  const times = Map.groupBy(found.children, ({ name }) => name);
  for (const [name, same] of times)
    for (const [index, child] of same.entries())
      collect(text, child, at + (same.length === 1 ? pointer(name) : pointer(name, index)), leaves);
}
