/**
 * Expectations that a recording no longer meets, replaced by what it shows now.
 *
 * Promise: what still holds, a person's rules (`forbids`, `never`), comments and the order of the file stay as they are.
 */
import type { SessionView } from '@chassis/journal';
import type { Document } from 'yaml';
import { checkSession } from './check.ts';
import { draftExpectations } from './draft.ts';
import type { Spec } from './spec.ts';

export interface Approved {
  /** The file's new text; the same when nothing had to be changed. */
  readonly text: string;
  /** JSON Pointers of the expectations that were replaced. */
  readonly changed: readonly string[];
  /** JSON Pointers of broken rules that only a person may change. */
  readonly broken: readonly string[];
}

/** Groups whose members are expectations of their own; what stands deeper belongs to one of them. */
const groups: ReadonlySet<string> = new Set(['tools', 'files', 'final', 'cost']);

/** @param text of the file that `spec` was read from */
export async function approveSpec(text: string, spec: Spec, view: SessionView): Promise<Approved> {
  const yaml = await import('yaml');
  const drafted = draftExpectations(view);
  const document = yaml.parseDocument(text);
  if (Object.keys(spec.expect).length === 0) {
    document.setIn(['expect'], document.createNode(drafted));
    return { text: document.toString({ lineWidth: 100 }), changed: ['/expect'], broken: [] };
  }
  const changed = new Set<string>();
  const edits: Edit[] = [];
  let structural = false;
  const broken: string[] = [];
  for (const { path } of checkSession(view, spec)) {
    const [, group = '', name = ''] = keysOf(path);
    if (group === 'never' || name === 'forbids') {
      broken.push(path);
      continue;
    }
    const keys = groups.has(group) ? ['expect', group, name] : ['expect', group];
    const pointer = `/${keys.map(token).join('/')}`;
    if (changed.has(pointer)) continue;
    changed.add(pointer);
    const now = keys
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], drafted);
    const edit = scalarEdit(yaml, document, keys, now);
    if (edit !== undefined) {
      edits.push(edit);
      document.setIn(keys, now);
      continue;
    }
    structural = true;
    if (now !== undefined) document.setIn(keys, document.createNode(now));
    else {
      document.deleteIn(keys);
      // Words that are not in the answer any more: the answer itself takes their place.
      if (group === 'final' && drafted.final !== undefined)
        document.setIn(['expect', 'final', 'equals'], drafted.final.equals);
    }
  }
  return {
    text: structural ? document.toString({ lineWidth: 100 }) : edited(text, edits),
    changed: [...changed],
    broken,
  };
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A value that stands where another stood: only its own characters change. */
function scalarEdit(
  { isScalar, stringify }: typeof import('yaml'),
  document: Document,
  keys: readonly string[],
  now: unknown,
): Edit | undefined {
  const node = document.getIn(keys, true);
  if (!isScalar(node) || !node.range || (typeof now === 'object' && now !== null) || now === undefined)
    return undefined;
  // What is neither a word nor a number is quoted: it may stand within brackets.
  const plain = typeof now !== 'string' || /^\w[\w ./-]*$/.test(now);
  return {
    from: node.range[0],
    to: node.range[1],
    text: plain ? stringify(now, { lineWidth: 0 }).trimEnd() : JSON.stringify(now),
  };
}

function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((all, { from, to, text: put }) => all.slice(0, from) + put + all.slice(to), text);
}

function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function token(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
