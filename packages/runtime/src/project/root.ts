/** Which folder is the project: the nearest upwards with `chassis.yaml`, else with `.git`, else the given one. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const PROJECT_FILE = 'chassis.yaml';

export function findRoot(cwd: string): { readonly root: string; readonly file: string | null } {
  const start = resolve(cwd);
  const withConfig = upwards(start, PROJECT_FILE);
  if (withConfig !== undefined) return { root: withConfig, file: join(withConfig, PROJECT_FILE) };
  return { root: upwards(start, '.git') ?? start, file: null };
}

function upwards(start: string, name: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
