/**
 * `plugin.yaml` as data.
 *
 * Promise: reading a manifest runs no plugin code. What comes out is complete (every default filled in) and
 * keeps every rule of the schema and of `manifest-rules.ts`; anything else is one error with all its places.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import {
  checkDocument,
  type Issue,
  invalid,
  type Place,
  parseDocument,
  readDocument,
  type SourceDocument,
} from '@chassis/schema';
import type { JsonObject, ToolDefinition } from '@chassis/types';
import { checkManifest } from '../own-checks.ts';
import { checkRules } from './manifest-rules.ts';
import { memoryTools } from './memory-tools.ts';

export const MANIFEST_FILE = 'plugin.yaml';

/** `none`: it brings skills and nothing that runs. */
export type RuntimeKind = 'inline' | 'worker' | 'process' | 'mcp' | 'http' | 'none';
export type Criticality = 'optional' | 'required' | 'guard';

export interface Dependency {
  /** Another plugin by name, or something that any plugin may offer. */
  readonly on: 'plugin' | 'capability';
  /** Of a plugin; or of a capability: `tool.fetch_orders`, `model.deepseek`, `model` for any model. */
  readonly name: string;
  /** A semver range for the plugin that is needed or offers it; `*` when the manifest gives none. */
  readonly version: string;
  readonly optional: boolean;
  /** `file:line:column` of the edge. */
  readonly at: string;
}

export interface Permissions {
  readonly fs: { readonly read: readonly string[]; readonly write: readonly string[] };
  readonly net: readonly string[];
  readonly env: readonly string[];
  readonly secrets: readonly string[];
  readonly exec: readonly string[];
  readonly methods: readonly string[];
}

export interface Named {
  readonly name: string;
  readonly description: string;
}

export interface NamedAgent extends Named {
  /** JSON Schema of what a project may set under `agent.settings`. */
  readonly settings?: JsonObject;
}

export interface NamedPolicy extends Named {
  /** Tools that it is about; empty for all. */
  readonly tools: readonly string[];
  readonly timeout_ms: number;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  readonly kind: 'tool' | 'model' | 'memory' | 'policy' | 'agent';
  /** The framework versions it works with. */
  readonly chassis: string;
  readonly runtime: RuntimeKind;
  readonly command?: readonly string[];
  readonly module?: string;
  readonly url?: string;
  /** Sent to the url; values may hold placeholders. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: 'chassis' | 'jsonrpc';
  readonly depends_on: readonly Dependency[];
  /** False: it is left out unless the configuration names it. */
  readonly enabled: boolean;
  readonly criticality: Criticality;
  readonly permissions: Permissions;
  /** JSON Schema of the plugin's own configuration block. */
  readonly config?: JsonObject;
  readonly deadlines: {
    readonly on_load_ms: number;
    readonly on_ready_ms: number;
    readonly on_shutdown_ms: number;
  };
  readonly tools: readonly ToolDefinition[];
  readonly models: readonly Named[];
  /** Key of the configuration block whose keys are names of further models. */
  readonly models_from_config?: string;
  readonly agents: readonly NamedAgent[];
  /** Each is served as two of the tools. */
  readonly memory: readonly Named[];
  readonly policies: readonly NamedPolicy[];
  /** Folders of skills, or full of them, relative to the plugin's. */
  readonly skills: readonly string[];
}

/** A manifest with the document that it came from, for places in later errors. */
export interface ManifestSource {
  readonly manifest: Manifest;
  readonly document: SourceDocument;
  /** `file:line:column` of a value, or of the nearest thing around it. */
  at(pointer: string): string;
}

/** @throws InvalidParams with every problem, each as `file:line:column` */
export async function readManifest(folder: string): Promise<ManifestSource> {
  const file = join(folder, MANIFEST_FILE);
  if (!existsSync(file)) throw new ChassisError('InvalidParams', `there is no ${MANIFEST_FILE} in ${folder}`);
  return manifestOf(await readDocument(file));
}

/** @throws InvalidParams with every problem, each as `file:line:column` */
export function parseManifest(text: string, file: string): ManifestSource {
  return manifestOf(parseDocument(text, file));
}

function manifestOf(document: SourceDocument): ManifestSource {
  const issues: Issue[] = [...checkDocument(document, checkManifest)];
  if (issues.length === 0) issues.push(...checkRules(document));
  if (issues.length > 0) throw invalid(issues);
  const at = (pointer: string): string => placeText(document, pointer);
  return { manifest: complete(document.value as Written, at), document, at };
}

function placeText(document: SourceDocument, pointer: string): string {
  let rest = pointer;
  for (;;) {
    const place: Place | undefined = document.place(rest);
    if (place !== undefined) return `${document.file}:${place.line}:${place.column}`;
    if (rest === '') return document.file;
    rest = rest.slice(0, rest.lastIndexOf('/'));
  }
}

/** The manifest as a person wrote it, after the schema check. */
interface Written
  extends Partial<
    Omit<Manifest, 'tools' | 'models' | 'agents' | 'memory' | 'policies' | 'depends_on' | 'permissions'>
  > {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly tools?: readonly (Partial<ToolDefinition> & Named)[];
  readonly models?: readonly (string | Partial<Named>)[];
  readonly agents?: readonly (string | Partial<NamedAgent>)[];
  readonly depends_on?: readonly {
    name?: string;
    capability?: string;
    version?: string;
    optional?: boolean;
  }[];
  readonly permissions?: Partial<Omit<Permissions, 'fs'>> & { readonly fs?: Partial<Permissions['fs']> };
  readonly memory?: readonly (string | Partial<Named>)[];
  readonly policies?: readonly (string | Partial<NamedPolicy>)[];
}

function complete(written: Written, at: (pointer: string) => string): Manifest {
  const { permissions = {} } = written;
  const memory = (written.memory ?? []).map(namedThing);
  const { author, command, module, url, config, models_from_config } = written;
  return {
    name: written.name,
    version: written.version,
    description: written.description,
    kind: written.kind ?? 'tool',
    chassis: written.chassis ?? '*',
    runtime: written.runtime ?? 'none',
    protocol: written.protocol ?? 'chassis',
    depends_on: (written.depends_on ?? []).map((edge, i) => ({
      on: edge.capability === undefined ? 'plugin' : 'capability',
      name: edge.capability ?? edge.name ?? '',
      version: edge.version ?? '*',
      optional: edge.optional ?? false,
      at: at(`/depends_on/${i}`),
    })),
    headers: written.headers ?? {},
    enabled: written.enabled ?? true,
    // What decides about calls must not be missing in silence.
    criticality: written.criticality ?? ((written.policies?.length ?? 0) > 0 ? 'guard' : 'optional'),
    permissions: {
      fs: { read: permissions.fs?.read ?? [], write: permissions.fs?.write ?? [] },
      net: permissions.net ?? [],
      env: permissions.env ?? [],
      secrets: permissions.secrets ?? [],
      exec: permissions.exec ?? [],
      methods: permissions.methods ?? [],
    },
    deadlines: { on_load_ms: 10_000, on_ready_ms: 5_000, on_shutdown_ms: 5_000, ...written.deadlines },
    tools: [...(written.tools ?? []).map(toolDefinition), ...memory.flatMap(memoryTools)],
    memory,
    policies: (written.policies ?? []).map((policy) => ({
      ...namedThing(policy),
      tools: typeof policy === 'string' ? [] : (policy.tools ?? []),
      timeout_ms: typeof policy === 'string' ? 5_000 : (policy.timeout_ms ?? 5_000),
    })),
    models: (written.models ?? []).map(namedThing),
    agents: (written.agents ?? []).map((agent) => ({
      ...namedThing(agent),
      ...(typeof agent === 'string' || agent.settings === undefined ? {} : { settings: agent.settings }),
    })),
    skills: written.skills ?? [],
    ...(author === undefined ? {} : { author }),
    ...(command === undefined ? {} : { command }),
    ...(module === undefined ? {} : { module }),
    ...(url === undefined ? {} : { url }),
    ...(config === undefined ? {} : { config }),
    ...(models_from_config === undefined ? {} : { models_from_config }),
  };
}

function namedThing(written: string | Partial<Named>): Named {
  if (typeof written === 'string') return { name: written, description: '' };
  return { name: written.name ?? '', description: written.description ?? '' };
}

/** A tool with every default: what does not say what it changes is taken to change the world, and asks. */
export function toolDefinition(written: Partial<ToolDefinition> & Named): ToolDefinition {
  const effects = written.effects ?? 'external';
  return {
    name: written.name,
    description: written.description,
    input: written.input ?? { type: 'object' },
    ...(written.output === undefined ? {} : { output: written.output }),
    effects,
    idempotent: written.idempotent ?? false,
    approval: written.approval ?? (effects === 'none' || effects === 'read' ? 'auto' : 'ask'),
    timeout_ms: written.timeout_ms ?? 60_000,
    ...(written.rate === undefined ? {} : { rate: written.rate }),
    ...(written.method === undefined ? {} : { method: written.method }),
  };
}
