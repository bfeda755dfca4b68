/** `chassis plugin new`: a plugin that works at once, in the project's plugins folder. */
import { join, relative } from 'node:path';
import { pluginScaffold } from '@chassis/runtime';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';

export async function pluginNew({
  args: [name = ''],
  options,
  globals,
  out,
}: Call<{ python?: true }>): Promise<Ending> {
  const { root } = await projectOf(globals);
  const folder = join(root, 'plugins', name);
  const kind = options.python === true ? 'python' : 'typescript';
  const written = await pluginScaffold({ kind, name, folder });
  for (const path of written) out.line(`wrote ${visible(relative(globals.cwd, path) || path)}`);
  const here = visible(relative(globals.cwd, folder) || '.');
  out.line(`next: chassis plugin check ${here}   chassis plugin show ${name}`);
  return { result: { name, folder, written } };
}
