/**
 * What becomes of a text that the strict parser has refused.
 *
 * js-yaml reads several times faster, keeps to the letter of YAML and stops at the first problem. `yaml` takes what people write all
 * the same (a closing bracket as far left as its key), goes on after a problem, and says more exactly what is meant. So it is
 * loaded only for a text that was refused: either it can read it, or it tells why not.
 */
import { createRequire } from 'node:module';
import type { YAMLException } from 'js-yaml';
import type { Alias, Document, Node, Pair, Scalar } from 'yaml';
import type { YamlNode, YamlTree } from './yaml-nodes.ts';

export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

/** @returns the tree, or at least one problem, each place once */
export function secondOpinion(
  source: string,
  thrown: YAMLException,
): YamlTree | { readonly problems: readonly SyntaxProblem[] } {
  const offset = Math.min(thrown.mark?.position ?? 0, source.length);
  const depth = /^nesting exceeded maxDepth \((\d+)\)$/.exec(thrown.reason)?.[1];
  if (depth !== undefined) return { problems: [{ offset, message: `nested deeper than ${depth} levels` }] };
  if (mayBeVeryDeep(source)) return { problems: [{ offset, message: thrown.reason }] };

  const yaml = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const document = yaml.parseDocument(source, { prettyErrors: false, logLevel: 'error', version: '1.2' });
  if (document.errors.length === 0) return { root: rootOf(document, yaml), second: undefined };
  const problems = document.errors.map(({ code, message, pos }) => ({
    offset: pos[0],
    message: inPlainWords(code, message),
  }));
  // A bracket that is never closed is reported once for every bracket around it.
  const byPlace = new Map(problems.map((problem) => [`${problem.offset} ${problem.message}`, problem]));
  return { problems: [...byPlace.values()] };
}

/** This parser descends without a limit. */
function mayBeVeryDeep(source: string): boolean {
  if (/(?:[-?][ \t]+){200}/.test(source)) return true;
  let brackets = 0;
  for (const bracket of ['[', '{']) {
    for (let at = source.indexOf(bracket); at >= 0; at = source.indexOf(bracket, at + 1)) brackets++;
  }
  return brackets > 1000;
}

function rootOf(document: Document.Parsed, yaml: typeof import('yaml')): YamlNode | undefined {
  const anchors = new Map<string, YamlNode>();
  const named = <N extends YamlNode>(anchor: string | undefined, made: N): N => {
    if (anchor !== undefined) anchors.set(anchor, made);
    return made;
  };

  const nodeOf = (node: Node | null, otherwise: number): YamlNode => {
    const start = node?.range?.[0] ?? otherwise;
    if (node === null) return { kind: 'scalar', text: '', isPlain: true, isWritten: false, start };
    if (yaml.isAlias(node)) {
      const { source: name } = node as Alias;
      return { kind: 'alias', name, target: anchors.get(name), start };
    }
    const common = { start, ...(node.tag === undefined ? {} : { tag: { name: node.tag, start } }) };
    if (yaml.isSeq<Node>(node)) {
      const made = named(node.anchor, { kind: 'sequence' as const, items: [] as YamlNode[], ...common });
      for (const item of node.items) made.items.push(nodeOf(item, start));
      return made;
    }
    if (yaml.isMap(node)) {
      const pairs: { key: YamlNode; value: YamlNode }[] = [];
      const made = named(node.anchor, { kind: 'mapping' as const, pairs, ...common });
      for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) {
        const name = nodeOf(key, start);
        pairs.push({ key: name, value: nodeOf(value, name.start) });
      }
      return made;
    }
    const { source = '', type, anchor } = node as Scalar;
    const isPlain = type === 'PLAIN';
    return named(anchor, {
      kind: 'scalar',
      text: source,
      isPlain,
      isWritten: !isPlain || source !== '',
      ...common,
    });
  };

  return document.contents === null ? undefined : nodeOf(document.contents as Node, 0);
}

function inPlainWords(code: string, message: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is already there; keys must be unique';
    case 'TAB_AS_INDENT':
      return 'a tab cannot indent YAML; use spaces';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; one file holds one document';
    default:
      return message.replace(/^./, (letter) => letter.toLowerCase());
  }
}
