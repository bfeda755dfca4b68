/**
 * Definitions of tools as a person's project first met them: what a server says about its tools must not change behind the
 * person's back.
 *
 * Promise: a definition is pinned at its first use. One that changed later suspends that tool, with both forms at hand, until
 * somebody accepts it. Pins belong to a project on this machine and are kept beside what it trusts, where no project can write.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import { digestOf } from '@chassis/journal';
import type { Json, JsonObject, ToolDefinition } from '@chassis/types';
import type { Unavailable } from '../capability.ts';
import type { Manifest } from '../plugin/manifest.ts';
import { listsItself } from '../plugin/offers.ts';
import { unavailable } from '../plugin/unavailable.ts';

/** A tool that is suspended: what was pinned and what it says now. */
export interface ChangedTool {
  readonly plugin: string;
  readonly tool: string;
  readonly pinned: JsonObject;
  readonly now: JsonObject;
}

type File = Record<string, Record<string, JsonObject>>;

export class Pins {
  readonly #path: string;
  readonly #known: File;
  readonly #changed = new Map<string, ChangedTool>();
  readonly #since = new Map<string, Unavailable>();

  /** @throws InvalidParams when the file is there and cannot be read: never taken for "nothing is pinned" */
  constructor(userFolder: string, root: string) {
    const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
    this.#path = join(userFolder, 'pins', `${name}.json`);
    this.#known = readFile(this.#path);
  }

  /** Why a tool may not be used, if so; pins it when it is new. */
  refusal(manifest: Manifest, definition: ToolDefinition): Unavailable | undefined {
    if (!tellsItself(manifest)) return undefined;
    const { name: plugin } = manifest;
    const now = shown(manifest, definition);
    const pinned = this.#known[plugin]?.[definition.name];
    const key = `${plugin}/${definition.name}`;
    if (pinned !== undefined && digestOf(pinned) !== digestOf(now)) {
      this.#changed.set(key, { plugin, tool: definition.name, pinned, now });
      const record = this.#since.get(key) ?? suspended(plugin, definition.name, pinned, now);
      this.#since.set(key, record);
      return record;
    }
    this.#changed.delete(key);
    this.#since.delete(key);
    if (pinned === undefined) this.#pin(plugin, definition.name, now);
    return undefined;
  }

  changed(): readonly ChangedTool[] {
    return [...this.#changed.values()];
  }

  problems(): readonly Unavailable[] {
    return [...this.#since.values()];
  }

  /** Takes the definitions of a plugin's tools as they are now. @returns names of the tools */
  accept(plugin: string): readonly string[] {
    const mine = this.changed().filter((one) => one.plugin === plugin);
    for (const { tool, now } of mine) {
      this.#pin(plugin, tool, now);
      this.#changed.delete(`${plugin}/${tool}`);
      this.#since.delete(`${plugin}/${tool}`);
    }
    return mine.map(({ tool }) => tool);
  }

  #pin(plugin: string, tool: string, now: JsonObject): void {
    this.#known[plugin] = { ...this.#known[plugin], [tool]: now };
    // Another process may have met other tools meanwhile.
    const merged: File = { ...readFile(this.#path) };
    for (const [name, tools] of Object.entries(this.#known)) merged[name] = { ...merged[name], ...tools };
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const draft = `${this.#path}.${randomUUID()}`;
    writeFileSync(draft, JSON.stringify(merged), { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}

/** Whose definitions come from a running server, not from files that trust was given to. */
function tellsItself(manifest: Manifest): boolean {
  return manifest.runtime === 'mcp' || listsItself(manifest);
}

/** What a model and a person are told of a tool; what the manifest says about it is the person's own word. */
function shown(
  { tools }: Manifest,
  { name, description, input, output, effects, idempotent }: ToolDefinition,
) {
  const own = tools.some((tool) => tool.name === name);
  return {
    description,
    input,
    ...(output === undefined ? {} : { output }),
    ...(own ? {} : { effects, idempotent }),
  } as JsonObject;
}

function suspended(plugin: string, tool: string, pinned: JsonObject, now: JsonObject): Unavailable {
  const members = [...new Set([...Object.keys(pinned), ...Object.keys(now)])].filter(
    (key) => JSON.stringify(pinned[key]) !== JSON.stringify(now[key]),
  );
  return unavailable({
    capability: `tool.${tool}`,
    owner: plugin,
    phase: 'runtime',
    cause: new ChassisError(
      'Unavailable',
      `the tool ${tool} of plugin ${plugin} is suspended: its ${members.join(', ') || 'definition'} changed since it was first used`,
      { data: { members } as unknown as Json },
    ),
    fix: `look at the difference with chassis plugin pins ${plugin}, then add --accept`,
  });
}

function readFile(path: string): File {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ChassisError('InvalidParams', `${path}: cannot be read: ${fileProblem(error)}`, {
      cause: error,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
    return value as File;
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${path} is no JSON object; correct it or remove it`, { cause });
  }
}
