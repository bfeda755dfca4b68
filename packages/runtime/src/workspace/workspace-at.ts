/** A workspace of its own with the files of a step: what forks, variants, rewinds and bisections work in. */
import type { SessionView, Store } from '@chassis/journal';
import { copyWorkspace, type Restored, restoreFiles } from './restore.ts';

/**
 * Copies the session's workspace and brings the recorded files to the state behind a step.
 *
 * @param at 0 is the state before the first step
 * @param to a folder that is not there yet
 * @throws InvalidParams or Conflict when the folder cannot be made there
 */
export async function workspaceAt(
  view: SessionView,
  at: number,
  store: Pick<Store, 'blob'>,
  to: string,
): Promise<Restored> {
  await copyWorkspace(view.header.workspace, to);
  return restoreFiles(view, at, store, to);
}
