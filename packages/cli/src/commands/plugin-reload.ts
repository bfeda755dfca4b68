/** `chassis plugin reload`: in every process of this project that runs; where none does, once here, to see whether it starts. */
import { join } from 'node:path';
import { ExitCode } from '@chassis/errors';
import { type PluginStatus, restsIn, runningOn } from '@chassis/runtime';
import { inEveryProcess } from '../in-every-process.ts';
import { demandPlugin } from '../plugin-folder.ts';
import { mark } from '../present/mark.ts';
import { unavailableLines } from '../present/plugin.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { storeFolder } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { ensureTrust } from '../trust-question.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginReload(call: Call): Promise<Ending> {
  const { args, globals, out } = call;
  const [name = ''] = args;
  const store = storeFolder(globals);
  const harnesses = await runningOn(store);
  // Somebody may run with other options than these: only what nobody knows is a wrong name.
  const project = await projectOf(globals);
  if (harnesses.length === 0) demandPlugin(name, project);
  await ensureTrust(project, globals, out, [name]);
  restsIn(join(store, 'plugins.json')).remove(name);
  if (harnesses.length === 0) return alone(call, name);

  const answered = await inEveryProcess(harnesses, 'plugin.reload', { name }, out);
  const reloaded = answered.map(({ answer, ...process }) => ({
    ...process,
    plugin: (answer as { plugin: PluginStatus }).plugin,
  }));
  for (const { pid, command, plugin } of reloaded)
    out.line(
      `${mark('ok')} ${visible(`${name} ${plugin.version}`)} is reloaded in process ${pid} (${visible(command)})`,
    );
  return { result: { name, reloaded } };
}

/** Nothing runs here: whether it starts is all that can be said. */
async function alone({ globals, out }: Call, name: string): Promise<Ending> {
  const bench = await openWorkbench({ globals, out, only: [name] });
  const plugin = bench.registry.plugins().find((one) => one.name === name);
  await bench.close();
  const active = plugin?.state === 'active';
  if (active)
    out.line(
      `${mark('ok')} ${visible(`${name} ${plugin.version}`)} starts; nothing of this project is running`,
    );
  else if (plugin?.unavailable !== undefined)
    for (const line of unavailableLines(plugin.unavailable)) out.line(line);
  return { exit: active ? ExitCode.ok : ExitCode.unavailable, result: { name, plugin, reloaded: [] } };
}
