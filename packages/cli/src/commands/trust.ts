/** `chassis trust`: what a project brings that needs trust, and the answer to it. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { trustState } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { ensureTrust, reasonLine } from '../trust-question.ts';

export async function trustProject({ args: [folder = '.'], globals, out }: Call): Promise<Ending> {
  const cwd = resolve(globals.cwd, folder);
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
    throw usage(`${folder}: there is no such folder`);
  const project = await projectOf({ ...globals, cwd });
  const { trusted, reasons } = await trustState(project);
  const root = visible(project.root);
  if (reasons.length === 0) out.line(`${root} brings nothing that needs trust`);
  else out.line(`${root} ${trusted ? 'is trusted with' : 'brings'}:`);
  for (const reason of reasons) out.line(`  ${reasonLine(reason)}`);
  if (!trusted) {
    await ensureTrust(project, globals, out, undefined, { listed: true });
    out.line(`${root} is trusted now, until one of these changes`);
  }
  return { result: { root: project.root, trusted: true, reasons } };
}
