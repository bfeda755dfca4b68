/** The project that a command works in, from its files alone: nothing of a plugin is loaded for it. */
import { type LeaveOut, openProject, type Project } from '@chassis/runtime/project';
import { firstPartyFolders } from './first-party.ts';
import type { Globals } from './reference/spec.ts';

/** Names of the only plugins to start, with commas: for `plugin bisect`. */
export const ONLY_PLUGINS = 'CHASSIS_ONLY_PLUGINS';

function leaveOut(safeMode: boolean, only: string | undefined): LeaveOut {
  const names = only?.split(',');
  return (name, origin) => {
    if (safeMode && origin !== 'first-party') return '--safe-mode';
    return names === undefined || names.includes(name) ? undefined : ONLY_PLUGINS;
  };
}

/** With the command line's overrides. Runs nothing. */
export function projectOf(globals: Globals, overrides: readonly string[] = []): Promise<Project> {
  return openProject({
    cwd: globals.cwd,
    overrides: [...globals.config, ...overrides],
    pluginPaths: globals.plugins,
    firstParty: firstPartyFolders(),
    leaveOut: leaveOut(globals.safeMode, process.env[ONLY_PLUGINS]),
    ownSkills: !globals.safeMode,
  });
}
