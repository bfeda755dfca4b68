/** The static layer by itself: project, configuration and manifests, without anything that runs a plugin. */
export type { Catalogue, CatalogueEntry, LeaveOut } from '../plugin/catalogue.ts';
export { SKILL_TOOL } from '../plugin/names.ts';
export { filesOf, readSkill } from '../skills/skill.ts';
export { type ConfigLine, configLines, type OpenProject, openProject, type Project } from './project.ts';
export { findRoot } from './root.ts';
