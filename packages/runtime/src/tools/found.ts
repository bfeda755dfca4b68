/** A list of tools with those that searches have found. Pure, so that a re-execution has the same list. */
import type { Json, ToolSpec } from '@chassis/types';

/**
 * @param answers outputs of `tool_search`, in their order
 * @returns the same list when nothing is new
 */
export function withFound(tools: readonly ToolSpec[], answers: readonly Json[]): readonly ToolSpec[] {
  if (answers.length === 0) return tools;
  const known = new Set(tools.map(({ name }) => name));
  const more: ToolSpec[] = [];
  for (const answer of answers) {
    const found = (answer as { readonly tools?: unknown } | null)?.tools;
    for (const spec of Array.isArray(found) ? (found as ToolSpec[]) : []) {
      if (typeof spec?.name !== 'string' || known.has(spec.name)) continue;
      known.add(spec.name);
      more.push(spec);
    }
  }
  return more.length === 0 ? tools : [...tools, ...more];
}
