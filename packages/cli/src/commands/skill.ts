/** `chassis skill`: the skills of a project, from their files alone. No code of a plugin runs, so nothing has to be trusted. */
import { filesOf, type Project, readSkill, SKILL_TOOL } from '@chassis/runtime/project';
import { didYouMean } from '@chassis/schema';
import { usage } from '../failure.ts';
import { unavailableLines } from '../present/plugin.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';

export async function skillLs({ globals, out }: Call): Promise<Ending> {
  const project = await projectOf(globals);
  const { found, broken, shadowed } = project.skills;
  const columns = [
    { title: 'name', shrinkTo: 8 },
    { title: 'from', drop: 1 },
    { title: 'use it when', shrinkTo: 20 },
  ];
  const rows = found.map(({ name, origin, plugin, description }) => [
    visible(name),
    plugin === undefined ? origin : `plugin ${plugin}`,
    visible(description.replace(/\s+/g, ' ')),
  ]);
  const [head = '', ...lines] = table(columns, rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of lines) out.line(line);
  for (const record of broken) for (const line of unavailableLines(record)) out.line(line);
  for (const copy of shadowed)
    out.line(visible(`${copy.name} in ${copy.folder} is not used: ${copy.by} comes first`));
  const kept = found.length === 0 ? undefined : keptFrom(project);
  if (kept !== undefined) out.line(visible(kept));
  for (const skill of found) out.record({ type: 'skill', ...skill });
  return {
    result: { skills: found.length, problems: broken, shadowed, ...(kept === undefined ? {} : { kept }) },
  };
}

/** Why no model is shown any of them, if so: they are read by a tool, and the project has its word on tools. */
function keptFrom(project: Project): string | undefined {
  const { tools } = project.config;
  const names = [SKILL_TOOL, `tool.${SKILL_TOOL}`, `plugin.chassis.${SKILL_TOOL}`, `chassis__${SKILL_TOOL}`];
  const fits = (pattern: string): boolean =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern);
  const denied = tools.deny.findIndex(fits);
  if (denied >= 0)
    return `no model is shown them: ${project.origin(['tools', 'deny', String(denied)])?.text} denies the tool ${SKILL_TOOL}`;
  if (tools.allow === undefined || tools.allow.some(fits)) return undefined;
  return `no model is shown them: add ${SKILL_TOOL} to tools.allow at ${project.origin('tools.allow')?.text}`;
}

export async function skillShow({ args: [name = ''], globals, out }: Call): Promise<Ending> {
  const { found } = (await projectOf(globals)).skills;
  const skill = found.find((one) => one.name === name);
  if (skill === undefined) {
    const names = found.map((one) => one.name);
    throw usage(`there is no skill "${name}"${didYouMean(name, names)}; chassis skill ls lists them`);
  }
  const { body, compatibility } = await readSkill(skill.folder);
  const files = await filesOf(skill.folder);
  out.line(`${paint('bold', visible(skill.name))}  ${visible(skill.folder)}`);
  out.line(`  ${visible(skill.description)}`);
  if (compatibility !== undefined) out.line(`  needs ${visible(compatibility)}`);
  if (files.length > 0) out.line(`  files ${visible(files.join(', '))}`);
  out.line('');
  for (const line of body.split('\n')) out.line(visible(line));
  return { result: { skill, body, files } };
}
