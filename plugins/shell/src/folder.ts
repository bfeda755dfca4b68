/** The folder a command starts in: inside the workspace, links resolved. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ChassisError } from '@chassis/errors';

/**
 * @returns the real path
 * @throws PermissionDenied when it is outside of the workspace, InvalidParams when it is no folder
 */
export async function startFolder(workspace: string, cwd: string): Promise<string> {
  const root = await realpath(workspace);
  let folder: string;
  try {
    folder = await realpath(resolve(workspace, cwd));
    if (!(await stat(folder)).isDirectory()) throw new Error('is no folder');
  } catch (cause) {
    throw new ChassisError('InvalidParams', `cwd ${cwd}: there is no such folder`, { cause, data: { cwd } });
  }
  const way = relative(root, folder);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new ChassisError('PermissionDenied', `cwd ${cwd} is outside of the workspace`, {
      data: { cwd, resolved: folder, fix: 'Use a folder inside the workspace.' },
    });
  }
  return folder;
}
