/** `chassis plugin check`: everything that can be said about a plugin without running it, then whether it starts. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ExitCode } from '@chassis/errors';
import { checkPlugin, type PluginStatus } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { mark } from '../present/mark.ts';
import { unavailableLines } from '../present/plugin.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginCheck(call: Call<{ static?: true }>): Promise<Ending> {
  const { args, options, globals, out } = call;
  const [path = ''] = args;
  const folder = resolve(globals.cwd, path);
  if (!existsSync(folder)) throw usage(`${path}: there is no such folder`);
  const found = await checkPlugin(folder);
  for (const { level, message } of found.findings) {
    out.line(`${level === 'error' ? mark('failed') : mark('unknown')} ${level}: ${visible(message)}`);
    out.record({ type: 'finding', level, message });
  }
  const started =
    found.ok && found.name !== null && options.static !== true
      ? await start(call, folder, found.name)
      : undefined;
  const ok = found.ok && (started === undefined || started.state === 'active');
  if (started?.unavailable !== undefined)
    for (const line of unavailableLines(started.unavailable)) out.line(line);
  const offers = [...(started?.tools ?? []), ...(started?.models ?? []), ...(started?.agents ?? [])];
  if (ok)
    out.line(
      `${mark('ok')} ${visible(found.name ?? path)} ${started === undefined ? 'is sound' : `is sound and starts: ${visible(offers.join(', ')) || 'it offers nothing'}`}`,
    );
  return {
    exit: ok ? ExitCode.ok : ExitCode.failed,
    result: { ...found, ok, ...(started === undefined ? {} : { started }) },
  };
}

/** The folder was named by a person, who wants its code to run. */
async function start(
  { globals, out }: Call<object>,
  folder: string,
  name: string,
): Promise<PluginStatus | undefined> {
  const bench = await openWorkbench({
    globals: { ...globals, plugins: [...globals.plugins, folder] },
    out,
    only: [name],
  });
  const status = bench.registry.plugins().find((plugin) => plugin.name === name);
  await bench.close();
  return status;
}
