/**
 * YAML as a tree that knows where each part stands, made from a parser's events.
 *
 * Promise: nothing is followed, resolved or built beyond what is written: an alias is an alias here, a tag its name. Depth
 * is bounded by the parser. YAML 1.2, whatever a `%YAML` directive says.
 */
import {
  type DocumentDirective,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';

interface Common {
  /** Offset of the first character, from 0. */
  readonly start: number;
  /** Full name of an explicit tag, with the offset of where it is written. */
  readonly tag?: { readonly name: string; readonly start: number };
}

export interface ScalarNode extends Common {
  readonly kind: 'scalar';
  readonly text: string;
  /** Without quotes: it may stand for a number, a boolean or null. */
  readonly isPlain: boolean;
  /** False where a value is left out. */
  readonly isWritten: boolean;
}

export interface SequenceNode extends Common {
  readonly kind: 'sequence';
  readonly items: YamlNode[];
}

export interface MappingNode extends Common {
  readonly kind: 'mapping';
  readonly pairs: { readonly key: YamlNode; value: YamlNode }[];
}

export interface AliasNode extends Common {
  readonly kind: 'alias';
  readonly name: string;
  /** What the anchor before it names; undefined when there is none. */
  readonly target: YamlNode | undefined;
}

export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

export interface YamlTree {
  /** Undefined for a text without a document. */
  readonly root: YamlNode | undefined;
  /** Offset of where a second document begins, if one does. */
  readonly second: number | undefined;
}

/** @throws YAMLException for the first thing that is no YAML, or nests deeper than `maxDepth` collections */
export function yamlTree(source: string, maxDepth: number): YamlTree {
  return new Builder(source).build(parseEvents(source, { maxDepth }));
}

class Builder {
  readonly #source: string;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #open: { readonly node: SequenceNode | MappingNode | undefined; key: YamlNode | undefined }[] = [];
  #directives: readonly DocumentDirective[] = [];
  #root: YamlNode | undefined;
  /** End of what has been read; what comes next stands behind it. */
  #end = 0;

  constructor(source: string) {
    this.#source = source;
  }

  build(events: readonly Event[]): YamlTree {
    let documents = 0;
    for (const [at, event] of events.entries()) {
      switch (event.type) {
        case EVENT_ID.DOCUMENT:
          if (++documents > 1)
            return { root: this.#root, second: this.#secondAt(event.explicitStart, events[at + 1]) };
          this.#directives = event.directives;
          this.#open.push({ node: undefined, key: undefined });
          break;
        case EVENT_ID.POP:
          this.#open.pop();
          break;
        case EVENT_ID.ALIAS: {
          this.#end = event.anchorEnd;
          const name = this.#source.slice(event.anchorStart, event.anchorEnd);
          this.#add({ kind: 'alias', start: event.anchorStart - 1, name, target: this.#anchors.get(name) });
          break;
        }
        case EVENT_ID.SCALAR: {
          const node: ScalarNode = {
            kind: 'scalar',
            text: getScalarValue(this.#source, event),
            isPlain: event.style === SCALAR_STYLE.PLAIN,
            isWritten: event.valueStart >= 0,
            start: this.#scalarAt(event),
            ...this.#tagOf(event),
          };
          this.#end = Math.max(this.#end, event.valueEnd, event.anchorEnd, event.tagEnd);
          this.#anchor(event, node);
          this.#add(node);
          break;
        }
        default: {
          const common = { start: event.start, ...this.#tagOf(event) };
          const node: SequenceNode | MappingNode =
            event.type === EVENT_ID.SEQUENCE
              ? { kind: 'sequence', items: [], ...common }
              : { kind: 'mapping', pairs: [], ...common };
          this.#end = Math.max(this.#end, event.start);
          // Before its members: one of them may be an alias of it.
          this.#anchor(event, node);
          this.#add(node);
          this.#open.push({ node, key: undefined });
        }
      }
    }
    return { root: this.#root, second: undefined };
  }

  #add(node: YamlNode): void {
    const around = this.#open.at(-1);
    if (around?.node === undefined) this.#root = node;
    else if (around.node.kind === 'sequence') around.node.items.push(node);
    else if (around.key === undefined) around.key = node;
    else {
      around.node.pairs.push({ key: around.key, value: node });
      around.key = undefined;
    }
  }

  #anchor({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }, node: YamlNode): void {
    if (anchorStart >= 0) this.#anchors.set(this.#source.slice(anchorStart, anchorEnd), node);
  }

  #tagOf({ tagStart, tagEnd }: { tagStart: number; tagEnd: number }): Pick<Common, 'tag'> {
    if (tagStart < 0) return {};
    return { tag: { name: this.#tagName(this.#source.slice(tagStart, tagEnd)), start: tagStart } };
  }

  /** `!!int` → `tag:yaml.org,2002:int`. */
  #tagName(written: string): string {
    if (written.startsWith('!<')) return written.slice(2, -1);
    const handle = /^!(?:[\w-]*!)?/.exec(written)?.[0] ?? '!';
    const declared = this.#directives.find((one) => one.kind === 'tag' && one.handle === handle);
    const prefix =
      declared?.kind === 'tag' ? declared.prefix : handle === '!!' ? 'tag:yaml.org,2002:' : handle;
    return prefix + written.slice(handle.length);
  }

  /** Events give what is inside of quotes and after the header of a block. */
  #scalarAt({ style, valueStart, anchorEnd, tagEnd }: ScalarEvent): number {
    switch (style) {
      case SCALAR_STYLE.PLAIN:
        return valueStart >= 0 ? valueStart : this.#leftOutAt(Math.max(anchorEnd, tagEnd));
      case SCALAR_STYLE.SINGLE_QUOTED:
      case SCALAR_STYLE.DOUBLE_QUOTED:
        return valueStart - 1;
      default:
        return this.#find(/(?:[^#|>]|#.*)*/y, Math.max(this.#end, anchorEnd, tagEnd));
    }
  }

  /** A value that is left out stands behind its properties, or in a list where its dash does. */
  #leftOutAt(propertiesEnd: number): number {
    if (propertiesEnd >= 0) return propertiesEnd;
    const around = this.#open.at(-1)?.node;
    return around?.kind === 'sequence' ? this.#find(/(?:[^#-]|#.*)*/y, this.#end) : this.#end;
  }

  #secondAt(isMarked: boolean, next: Event | undefined): number {
    if (isMarked) return this.#find(/(?:(?!---).*\n)*/my, this.#end);
    return next !== undefined && 'start' in next ? next.start : this.#end;
  }

  /** Offset behind what the expression skips, from here on. */
  #find(skipped: RegExp, from: number): number {
    skipped.lastIndex = from;
    const found = skipped.exec(this.#source);
    return found === null ? from : from + found[0].length;
  }
}
