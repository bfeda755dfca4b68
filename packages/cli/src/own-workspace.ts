/** A folder that a run can work in without touching the workspace of the session that it is made from. */
import { join } from 'node:path';
import { newSessionId, type SessionView, type Store } from '@chassis/journal';
import { type Restored, workspaceAt } from '@chassis/runtime';
import type { Globals } from './reference/spec.ts';
import { storeFolder } from './store.ts';

/** @returns the folder, with the recorded files as they were behind step `at`; what could not be restored is in `refused` */
export function ownWorkspace(
  view: SessionView,
  at: number,
  store: Pick<Store, 'blob'>,
  globals: Globals,
): Promise<Restored> {
  return workspaceAt(view, at, store, join(storeFolder(globals), 'workspaces', newSessionId()));
}
