/**
 * The configuration as the rest of the runtime sees it: complete, typed, paths absolute. Placeholders are
 * still in it as they were written; they are resolved where a value is used.
 */
import type { JsonObject } from '@chassis/types';
import type { Criticality } from '../plugin/manifest.ts';
import type { Merged } from './layers.ts';

export interface PluginBlock {
  readonly enabled: boolean;
  readonly config: JsonObject;
  readonly criticality?: Criticality;
  /** Further variables of a plugin's process. */
  readonly env: Readonly<Record<string, string>>;
  /** Further headers for a plugin that is reached by a url. */
  readonly headers: Readonly<Record<string, string>>;
  /** Secrets that the plugin may ask for beyond those its manifest names. */
  readonly secrets: readonly string[];
}

export type SecretSource = { readonly env: string } | { readonly file: string };

export interface Config {
  readonly agent: { readonly use: string; readonly system?: string; readonly settings: JsonObject };
  /** First choice, then fallbacks; empty when nothing is configured. */
  readonly model: { readonly use: readonly string[]; readonly params: JsonObject };
  /** Absolute. */
  readonly workspace: string;
  readonly limits: {
    readonly steps: number;
    readonly tokens?: number;
    readonly cost_usd?: number;
    readonly minutes?: number;
    /** How often the same call may give the same result before somebody is asked. */
    readonly repeats?: number;
  };
  readonly retry: { readonly attempts: number; readonly base_ms: number };
  readonly tools: {
    readonly allow?: readonly string[];
    readonly deny: readonly string[];
    readonly approval: Readonly<Record<string, 'auto' | 'ask' | 'never'>>;
    /** Tokens that the list of tools may take in a request; beyond it tools are found by search. */
    readonly budget_tokens?: number;
  };
  /** Folders of skills beside the usual ones, absolute. */
  readonly skills: { readonly paths: readonly string[] };
  readonly secrets: Readonly<Record<string, SecretSource>>;
  /** Names of variables whose values never reach a record. */
  readonly redact: readonly string[];
  readonly plugins: {
    readonly paths: readonly string[];
    readonly npm: readonly string[];
    /** Whether a run takes in changes of plugins while it goes on. */
    readonly watch: boolean;
    /** Blocks by plugin name. */
    readonly blocks: Readonly<Record<string, PluginBlock>>;
  };
  readonly enforcement: { readonly minimum: 'declared' | 'runtime' | 'kernel' };
}

interface Written extends Omit<Config, 'plugins'> {
  readonly plugins: { readonly paths: string[]; readonly npm: string[]; readonly watch: boolean } & Readonly<
    Record<string, object>
  >;
}

const NO_BLOCK: PluginBlock = { enabled: true, config: {}, env: {}, headers: {}, secrets: [] };

export function typedConfig(merged: Merged): Config {
  // Checked layer by layer against the schema, so the shape is known.
  const tree = merged.value as unknown as Written;
  const { paths, npm, watch, ...named } = tree.plugins;
  const blocks = Object.entries(named).map(([name, block]) => [name, { ...NO_BLOCK, ...block }] as const);
  return {
    agent: { ...tree.agent, settings: tree.agent.settings ?? {} },
    model: { use: tree.model.use, params: tree.model.params ?? {} },
    workspace: tree.workspace,
    limits: tree.limits,
    retry: tree.retry,
    tools: { ...tree.tools, approval: tree.tools.approval ?? {} },
    skills: tree.skills,
    secrets: tree.secrets ?? {},
    redact: tree.redact,
    plugins: { paths, npm, watch, blocks: Object.fromEntries(blocks) },
    enforcement: tree.enforcement,
  };
}

/** A plugin's block, or the empty one. */
export function blockOf(config: Config, plugin: string): PluginBlock {
  return Object.hasOwn(config.plugins.blocks, plugin)
    ? (config.plugins.blocks[plugin] ?? NO_BLOCK)
    : NO_BLOCK;
}
