/**
 * The layers of the configuration, each checked against the schema, merged so that the later wins.
 *
 * Promise: every value knows the layer, and the file and line, that it came from. Objects merge, everything
 * else (lists too) is replaced whole. No layer is changed by another.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { ChassisError } from '@chassis/errors';
import {
  type Issue,
  invalid,
  pointerToken,
  readDocument,
  type SourceDocument,
  withPlace,
} from '@chassis/schema';
import { checkConfig } from '../own-checks.ts';
import { TOP_KEYS } from './config-schema.ts';

/** Where a value came from. `text` is what a person is shown: `chassis.yaml:3:7`, `--config model`, `default`. */
export interface Origin {
  readonly layer: 'default' | 'user' | 'project' | 'variable' | 'option';
  readonly text: string;
}

type Tree = { readonly [key: string]: unknown };

export interface Layer {
  readonly layer: Origin['layer'];
  readonly value: Tree;
  /** Origin of the value under the keys; only called for paths that the layer has. */
  origin(keys: readonly string[]): Origin;
}

const DEFAULTS: Tree = {
  agent: { use: 'default' },
  model: { use: [] },
  workspace: '.',
  limits: { steps: 200 },
  retry: { attempts: 4, base_ms: 500 },
  tools: { deny: [] },
  skills: { paths: [] },
  redact: [],
  plugins: { paths: [], npm: [], watch: false },
  enforcement: { minimum: 'declared' },
};

export function defaultsLayer(root: string): Layer {
  return {
    layer: 'default',
    value: { ...DEFAULTS, workspace: root },
    origin: () => ({ layer: 'default', text: 'default' }),
  };
}

/** A configuration file, or undefined where there is none. @throws InvalidParams with every problem's place */
export async function fileLayer(layer: 'user' | 'project', file: string): Promise<Layer | undefined> {
  if (!existsSync(file)) return undefined;
  const document = await readDocument(file);
  const place = (issue: Issue): Issue => withPlace(document, issue);
  const value = checked(document.value ?? {}, dirname(file), place);
  return {
    layer,
    value,
    origin: (keys) => ({ layer, text: placeText(document, keys) }),
  };
}

/** `CHASSIS_MODEL=x`, `CHASSIS_LIMITS__STEPS=5`: `__` separates keys. Others than configuration keys are not ours. */
export function variableLayers(env: Readonly<Record<string, string | undefined>>, cwd: string): Layer[] {
  const layers: Layer[] = [];
  for (const [name, text] of Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!name.startsWith('CHASSIS_') || text === undefined || text === '') continue;
    const keys = name.slice('CHASSIS_'.length).toLowerCase().split('__');
    if (!TOP_KEYS.includes(keys[0] ?? '')) continue;
    // Names of plugins have hyphens, which variables cannot have.
    if (keys[0] === 'plugins' && keys[1] !== undefined) keys[1] = keys[1].replaceAll('_', '-');
    layers.push(pairLayer('variable', name, keys, text, cwd));
  }
  return layers;
}

/** `--config KEY=VALUE`: a dotted key; the value is JSON if it parses, else a string. */
export function optionLayer(override: string, cwd: string): Layer {
  const equals = override.indexOf('=');
  const key = override.slice(0, equals);
  if (equals < 1 || key.split('.').includes('')) {
    throw new ChassisError('InvalidParams', `--config ${override}: expected KEY=VALUE with a dotted key`);
  }
  return pairLayer('option', `--config ${key}`, key.split('.'), override.slice(equals + 1), cwd);
}

function pairLayer(
  layer: 'variable' | 'option',
  text: string,
  keys: readonly string[],
  written: string,
  cwd: string,
): Layer {
  const build = (leaf: unknown): unknown =>
    keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), leaf);
  const place = (issue: Issue): Issue => ({ ...issue, file: text });
  let value: unknown = build(parsed(written));
  // `limits.steps=5` is a number, but `agent.system=5` is meant as text.
  if (
    typeof parsed(written) !== 'string' &&
    issuesOf(value).length > 0 &&
    issuesOf(build(written)).length === 0
  ) {
    value = build(written);
  }
  return { layer, value: checked(value, cwd, place), origin: () => ({ layer, text }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function issuesOf(value: unknown): readonly Issue[] {
  return checkConfig(normal(value));
}

function checked(written: unknown, base: string, place: (issue: Issue) => Issue): Tree {
  const issues = issuesOf(written);
  if (issues.length > 0) throw invalid(issues.map(place));
  return absolute(normal(written) as Tree, base);
}

/** The short spellings: `agent: name`, `model: name` and `model: [first, fallback]`. */
function normal(written: unknown): unknown {
  if (!isTree(written)) return written;
  const tree = { ...written };
  if (typeof tree.agent === 'string') tree.agent = { use: tree.agent };
  if (typeof tree.model === 'string' || Array.isArray(tree.model)) tree.model = { use: tree.model };
  if (isTree(tree.model) && typeof tree.model.use === 'string') {
    tree.model = { ...tree.model, use: [tree.model.use] };
  }
  return tree;
}

/** Paths start at the file that names them. */
function absolute(tree: Tree, base: string): Tree {
  const full = (path: string): string => (isAbsolute(path) ? path : resolve(base, path));
  const copy: Record<string, unknown> = { ...tree };
  if (typeof tree.workspace === 'string') copy.workspace = full(tree.workspace);
  for (const key of ['plugins', 'skills']) {
    const section = tree[key];
    if (isTree(section) && Array.isArray(section.paths))
      copy[key] = { ...section, paths: section.paths.map((path) => full(String(path))) };
  }
  if (isTree(tree.secrets)) {
    copy.secrets = Object.fromEntries(
      Object.entries(tree.secrets).map(([name, source]) => [
        name,
        isTree(source) && typeof source.file === 'string' ? { file: full(source.file) } : source,
      ]),
    );
  }
  return copy;
}

export interface Merged {
  readonly value: Tree;
  /** Origin of a value; of an object, the origin of the last layer that touched it. */
  origin(keys: readonly string[]): Origin | undefined;
}

/** Merges layers, the first the weakest. */
export function merge(layers: readonly Layer[]): Merged {
  const value = layers.reduce<Tree>((below, layer) => mergeTrees(below, layer.value, []), {});
  return {
    value,
    origin(keys) {
      for (const layer of layers.toReversed()) {
        if (has(layer.value, keys)) return layer.origin(keys);
      }
      return undefined;
    },
  };
}

function mergeTrees(below: Tree, above: Tree, keys: readonly string[]): Tree {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    const path = [...keys, key];
    // A secret's source is one thing: { env } over { file } must not become both.
    const whole = path.length === 2 && path[0] === 'secrets';
    const next = !whole && isTree(under) && isTree(value) ? mergeTrees(under, value, path) : value;
    Object.defineProperty(merged, key, { value: next, enumerable: true, writable: true, configurable: true });
  }
  return merged;
}

function has(tree: unknown, keys: readonly string[]): boolean {
  let at: unknown = tree;
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Record<string, unknown>)[key];
  }
  return true;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function placeText(document: SourceDocument, keys: readonly string[]): string {
  // `agent: name` was written where now stands agent.use: then the nearest thing around it is the place.
  for (let n = keys.length; n >= 0; n--) {
    const pointer = keys
      .slice(0, n)
      .map((key) => `/${pointerToken(key)}`)
      .join('');
    const place = document.place(pointer);
    if (place !== undefined) return `${document.file}:${place.line}:${place.column}`;
  }
  return document.file;
}

export function userFolder(home: string): string {
  return join(home, '.config', 'chassis');
}
