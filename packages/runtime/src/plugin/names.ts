/**
 * Names of capabilities.
 *
 * A tool is known by its short name, and always also by `plugin.<plugin>.<tool>`. Models take neither dots nor
 * more than 64 characters, so the full name has a second spelling for them: `<plugin>__<tool>`.
 */
import { createHash } from 'node:crypto';

/** Owns the tools that the harness itself brings; no plugin may be called so. */
export const HARNESS = 'chassis';
export const SKILL_TOOL = 'skill';
export const TOOL_SEARCH = 'tool_search';

/** The method name of a tool, whoever else has a tool of that name. */
export function fullName(plugin: string, tool: string): string {
  return `plugin.${plugin}.${tool}`;
}

/**
 * The full name in letters that a model takes. It depends on nothing but the two names. Plugin names have no
 * underscore, so the first `__` always ends the plugin; a name that is too long ends in a hash of the whole.
 */
export function modelSafeName(plugin: string, tool: string): string {
  const name = `${plugin}__${tool}`;
  if (name.length <= 64) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${name.slice(0, 64 - 13)}_${hash}`;
}

/**
 * A name that a foreign server gave a tool, in letters that a model takes. What is fit stays as it is; anything else
 * keeps its fit part and ends in a hash of the original, so that two names never become one.
 */
export function safeToolName(original: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(original)) return original;
  const hash = createHash('sha256').update(original).digest('hex').slice(0, 8);
  return `${original.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${hash}`;
}
