/**
 * `chassis plugin ls`: every plugin that was found, started and asked, with the reason where one cannot be used. With `--static` from
 * the manifests alone: no plugin's code runs, so nothing has to be trusted.
 */
import type { Project } from '@chassis/runtime/project';
import { inColourOfState, unavailableLines } from '../present/plugin.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';

export async function pluginLs(call: Call<{ static?: true }>): Promise<Ending> {
  const { out } = call;
  const { plugins, problems, shadowed } = await (call.options.static === true ? onDisk(call) : started(call));
  const stateOf = (row: number) => plugins[row]?.state ?? 'stopped';
  const columns = [
    { title: 'name', shrinkTo: 8 },
    { title: 'version', drop: 2 },
    { title: 'state', paint: (cell: string, row: number) => inColourOfState(stateOf(row), cell) },
    { title: 'from', drop: 1 },
    { title: 'offers', shrinkTo: 12 },
  ];
  const rows = plugins.map(
    ({ name, version, state, origin, tools, models, agents, policies = [], skills = [] }) => [
      visible(name),
      version,
      state,
      origin,
      visible(
        [
          ...tools,
          ...models.map((model) => `model ${model}`),
          ...agents.map((agent) => `agent ${agent}`),
          ...policies.map((policy) => `policy ${policy}`),
          ...skills.map((skill) => `skill ${skill}`),
        ].join(', '),
      ),
    ],
  );
  const [head = '', ...lines] = table(columns, rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of lines) out.line(line);
  for (const record of problems) for (const line of unavailableLines(record)) out.line(line);
  for (const copy of shadowed)
    out.line(visible(`${copy.name} in ${copy.folder} is not used: ${copy.by} comes first`));
  for (const plugin of plugins) out.record({ type: 'plugin', ...plugin });
  return { result: { plugins: plugins.length, problems, shadowed } };
}

async function started({ globals, out }: Call<object>) {
  // What runs plugins is loaded only where one may run.
  const { openWorkbench } = await import('../workbench.ts');
  const bench = await openWorkbench({ globals, out });
  const plugins = bench.registry.plugins();
  const problems = bench.registry.problems();
  const { shadowed } = bench.project.catalogue;
  await bench.close();
  return { plugins, problems, shadowed };
}

async function onDisk({ globals }: Call<object>) {
  const { catalogue, skills } = await projectOf(globals);
  const { broken, missing, shadowed } = catalogue;
  const failed = broken.filter((plugin) => plugin.enabled);
  return {
    plugins: [
      ...catalogue.entries.map((entry) => asFound(entry, skills)),
      ...failed.map((plugin) => ({ ...plugin, ...lost })),
    ].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    problems: [...failed.map(({ record }) => record), ...missing, ...skills.broken],
    shadowed,
  };
}

const lost = { version: '', state: 'failed' as const, policies: [], skills: [] };

function asFound(
  { name, folder, origin, enabled, digest, source }: Project['catalogue']['entries'][number],
  { found }: Project['skills'],
) {
  const { version, tools, models, agents, policies } = source.manifest;
  const names = (list: readonly { readonly name: string }[]) => list.map((one) => one.name);
  return {
    name,
    version,
    digest,
    folder,
    origin,
    state: enabled ? ('stopped' as const) : ('disabled' as const),
    tools: names(tools),
    models: names(models),
    agents: names(agents),
    policies: names(policies),
    skills: names(found.filter(({ plugin }) => plugin === name)),
  };
}
