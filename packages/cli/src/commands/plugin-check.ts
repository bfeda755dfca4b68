/** `chassis plugin check`: everything that can be said about a plugin without running it, then whether it starts. */
import { ExitCode } from '@chassis/errors';
import { checkPlugin, type PluginStatus, type Unavailable } from '@chassis/runtime';
import type { ToolDefinition } from '@chassis/types';
import { pluginFolder } from '../plugin-folder.ts';
import { mark } from '../present/mark.ts';
import { unavailableLines } from '../present/plugin.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { trustedFolder } from '../trust-question.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginCheck(call: Call<{ static?: true }>): Promise<Ending> {
  const { args, options, globals, out } = call;
  const [path = ''] = args;
  const project = await projectOf(globals);
  const folder = pluginFolder(path, globals.cwd, project);
  const found = await checkPlugin(folder);
  for (const { level, message } of found.findings) {
    out.line(`${level === 'error' ? mark('failed') : mark('unknown')} ${level}: ${visible(message)}`);
    out.record({ type: 'finding', level, message });
  }
  const startable = found.ok && found.name !== null && options.static !== true;
  const trusted = startable && (await trustedFolder(folder, project, globals));
  const started = trusted ? await start(call, folder, found.name ?? '') : undefined;
  const missing = started?.missing ?? [];
  const ok =
    found.ok && (started === undefined || started.status?.state === 'active') && missing.length === 0;
  if (started?.status?.unavailable !== undefined)
    for (const line of unavailableLines(started.status.unavailable)) out.line(line);
  for (const { cause, fix } of missing) {
    out.line(`${mark('failed')} error: ${visible(cause.message)} (${visible(fix)})`);
    out.record({ type: 'finding', level: 'error', message: cause.message });
  }
  for (const message of started?.advice ?? []) {
    out.line(`${mark('unknown')} warning: ${visible(message)}`);
    out.record({ type: 'finding', level: 'warning', message });
  }
  if (startable && !trusted)
    out.note(
      `chassis: nothing of ${visible(path)} was run, because it needs your trust: look at it, then say yes with --trust`,
    );
  const { tools = [], models = [], agents = [], policies = [], skills = [] } = started?.status ?? {};
  const offers = [...tools, ...models, ...agents, ...policies, ...skills];
  if (ok)
    out.line(
      `${mark('ok')} ${visible(found.name ?? path)} ${started === undefined ? 'is sound' : `is sound and starts: ${visible(offers.join(', ')) || 'it offers nothing'}`}`,
    );
  return {
    exit: ok ? ExitCode.ok : ExitCode.failed,
    result: { ...found, ok, ...(started?.status === undefined ? {} : { started: started.status }) },
  };
}

interface Started {
  readonly status: PluginStatus | undefined;
  /** What its manifest lists and its code does not serve, and the other way round. */
  readonly missing: readonly Unavailable[];
  /** Schemas that stand neither in the manifest nor in the code. */
  readonly advice: readonly string[];
}

async function start({ globals, out }: Call<object>, folder: string, name: string): Promise<Started> {
  const bench = await openWorkbench({
    globals: { ...globals, plugins: [...globals.plugins, folder] },
    out,
    only: [name],
  });
  const status = bench.registry.plugins().find((plugin) => plugin.name === name);
  const missing = bench.registry
    .problems()
    .filter(({ owner, capability }) => owner === name && /^(tool|model|agent)\./.test(capability));
  const advice = bench.registry
    .tools()
    .filter(({ plugin }) => plugin.name === name)
    .flatMap(({ definition }) => schemaAdvice(definition));
  await bench.close();
  return { status, missing, advice };
}

function schemaAdvice({ name, input, output }: ToolDefinition): string[] {
  const open = Object.keys(input).length === 1 && input.type === 'object';
  return [
    ...(open ? [`${name} has no input schema, so a model cannot know its arguments`] : []),
    ...(output === undefined ? [`${name} has no output schema, so bad data goes on to the next tool`] : []),
  ];
}
