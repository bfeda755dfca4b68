/** The part of the configuration that governs a session: recorded with a new one, in force for one that goes on. */
import type { LiveRegistry, Project, SessionSettings } from '@chassis/runtime';
import { didYouMean } from '@chassis/schema';
import { usage } from './failure.ts';

/** Deadline of a model call: long reasoning takes minutes, a dead connection shows much earlier. */
const MODEL_TIMEOUT_MS = 600_000;

/**
 * @param approve names of tools that run without asking; `all` for every tool
 * @throws InvalidParams for a tool that does not exist
 */
export function settingsOf(
  { config }: Project,
  registry: Pick<LiveRegistry, 'tools'>,
  approve: readonly string[] = [],
): SessionSettings {
  const { agent, limits, retry, tools } = config;
  const known = registry.tools().map((tool) => tool.name);
  const unknown = approve.find((name) => name !== 'all' && !known.includes(name));
  if (unknown !== undefined)
    throw usage(`--approve ${unknown}: there is no such tool${didYouMean(unknown, known)}`);
  // "All" means those that ask; what a manifest or the project forbids takes its own name.
  const asking = registry
    .tools()
    .filter(({ name, definition }) => (tools.approval[name] ?? definition.approval) !== 'never')
    .map((tool) => tool.name);
  const approved = approve.includes('all')
    ? [...asking, ...approve.filter((name) => name !== 'all')]
    : approve;
  return {
    agent: { ...(agent.system === undefined ? {} : { system: agent.system }), settings: agent.settings },
    limits,
    retry,
    approval: { ...tools.approval, ...Object.fromEntries(approved.map((name) => [name, 'auto' as const])) },
    tools: {
      ...(tools.allow === undefined ? {} : { allow: tools.allow }),
      deny: tools.deny,
      ...(tools.budget_tokens === undefined ? {} : { budget_tokens: tools.budget_tokens }),
    },
    model_timeout_ms: MODEL_TIMEOUT_MS,
  };
}

/** `--max-steps N` as an override of the configuration. */
export function maxStepsOverride(text: string | undefined): string[] {
  if (text === undefined) return [];
  if (!/^[1-9]\d*$/.test(text)) throw usage(`--max-steps ${text}: it must be a whole number above 0`);
  return [`limits.steps=${text}`];
}
