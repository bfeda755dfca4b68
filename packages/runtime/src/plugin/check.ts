/**
 * `checkPlugin`: everything that can be said about a plugin without running it.
 *
 * Promise: no plugin code runs, nothing is written. Every finding has a place where there is one.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { checkSchema, type Issue, issuesOf, issueText, withPlace } from '@chassis/schema';
import { skillsIn } from '../skills/find.ts';
import { type ManifestSource, readManifest } from './manifest.ts';

export interface Finding {
  readonly level: 'error' | 'warning';
  /** Whole sentence with its place. */
  readonly message: string;
}

export interface PluginCheck {
  readonly folder: string;
  /** null when the manifest cannot be read. */
  readonly name: string | null;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** @param env where programs are looked for */
export async function checkPlugin(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PluginCheck> {
  let source: ManifestSource;
  try {
    source = await readManifest(folder);
  } catch (error) {
    const issues = issuesOf(error);
    const lines = issues.length > 0 ? issues.map(issueText) : [(error as Error).message];
    return {
      folder,
      name: null,
      ok: false,
      findings: lines.map((message) => ({ level: 'error', message })),
    };
  }
  const findings = [
    ...schemas(source),
    ...entry(source, folder, env),
    ...(await skills(source, folder)),
    ...advice(source),
  ];
  return {
    folder,
    name: source.manifest.name,
    ok: findings.every((finding) => finding.level !== 'error'),
    findings,
  };
}

function schemas({ manifest, document }: ManifestSource): Finding[] {
  const issues: Issue[] = [];
  const add = (pointer: string, schema: Parameters<typeof checkSchema>[0] | undefined): void => {
    if (schema === undefined) return;
    for (const issue of checkSchema(schema)) {
      issues.push(withPlace(document, { ...issue, path: `${pointer}${issue.path}` }));
    }
  };
  add('/config', manifest.config);
  for (const [i, agent] of manifest.agents.entries()) add(`/agents/${i}/settings`, agent.settings);
  manifest.tools.forEach((tool, i) => {
    if (document.place(`/tools/${i}/input`) !== undefined) add(`/tools/${i}/input`, tool.input);
    add(`/tools/${i}/output`, tool.output);
  });
  return issues.map((issue) => ({ level: 'error', message: issueText(issue) }));
}

/** Whether what the manifest wants to start is there. */
function entry(
  source: ManifestSource,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const at = (pointer: string): string => source.at(pointer);
  const { module, command = [] } = source.manifest;
  if (module !== undefined && !existsSync(join(folder, module))) {
    return [{ level: 'error', message: `${at('/module')}: there is no file ${module}` }];
  }
  const [program] = command;
  if (program === undefined || program === 'node') return [];
  const places = program.includes('/')
    ? [join(program.startsWith('/') ? '/' : folder, program)]
    : (env.PATH ?? '').split(delimiter).map((path) => join(path, program));
  if (places.some((path) => existsSync(path))) return [];
  const where = program.includes('/') ? folder : `PATH (${env.PATH ?? 'empty'})`;
  return [{ level: 'warning', message: `${at('/command')}: "${program}" was not found in ${where}` }];
}

/** Whether its skills can be read. */
async function skills(source: ManifestSource, folder: string): Promise<Finding[]> {
  const { broken } = await skillsIn(folder, source);
  return broken.map(({ cause }) => ({ level: 'error', message: cause.message }));
}

/** What is allowed, but rarely meant. */
function advice(source: ManifestSource): Finding[] {
  const { manifest, document } = source;
  const at = (pointer: string): string => source.at(pointer);
  const findings: Finding[] = [];
  const warn = (message: string): void => void findings.push({ level: 'warning', message });
  const { tools, models, agents, policies } = manifest;
  const offers = tools.length + models.length + agents.length + policies.length + manifest.skills.length;
  if (
    offers === 0 &&
    manifest.protocol !== 'jsonrpc' &&
    manifest.runtime !== 'mcp' &&
    manifest.models_from_config === undefined
  ) {
    warn(`${document.file}: the plugin offers no tools, models or agents`);
  }
  // The code of an SDK may bring the schemas along; whoever starts it sees them.
  const inCode =
    manifest.protocol === 'chassis' && ['inline', 'worker', 'process'].includes(manifest.runtime);
  manifest.tools.forEach((tool, i) => {
    if (!inCode && document.place(`/tools/${i}/input`) === undefined) {
      warn(`${at(`/tools/${i}`)}: ${tool.name} has no input schema, so a model cannot know its arguments`);
    }
    if (!inCode && document.place(`/tools/${i}/output`) === undefined) {
      warn(`${at(`/tools/${i}`)}: ${tool.name} has no output schema, so bad data goes on to the next tool`);
    }
    if (document.place(`/tools/${i}/effects`) === undefined) {
      warn(`${at(`/tools/${i}`)}: ${tool.name} does not say its effects, so it counts as external and asks`);
    }
  });
  return findings;
}
