/** `chassis plugin unload`: takes a plugin out of every process of this project that runs. */
import { runningOn } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { inEveryProcess } from '../in-every-process.ts';
import { demandPlugin } from '../plugin-folder.ts';
import { mark } from '../present/mark.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { storeFolder } from '../store.ts';
import { visible } from '../terminal/text.ts';

export async function pluginUnload({
  args: [name = ''],
  options,
  globals,
  out,
}: Call<{ force?: true }>): Promise<Ending> {
  const harnesses = await runningOn(storeFolder(globals));
  if (harnesses.length === 0) {
    demandPlugin(name, await projectOf(globals));
    throw usage(
      `nothing of this project is running; to leave a plugin out of the next run, set plugins.${name}.enabled to false`,
    );
  }
  const force = options.force === true;
  const answered = await inEveryProcess(harnesses, 'plugin.unload', { name, force }, out);
  const unloaded = answered.map(({ pid, command }) => ({ pid, command }));
  for (const { pid, command } of unloaded)
    out.line(`${mark('ok')} ${visible(name)} is taken out of process ${pid} (${visible(command)})`);
  return { result: { name, unloaded } };
}
