/** `chassis plugin ls`: every plugin that was found, started and asked, with the reason where one cannot be used. */
import { inColourOfState, unavailableLines } from '../present/plugin.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginLs({ globals, out }: Call): Promise<Ending> {
  const bench = await openWorkbench({ globals, out });
  const plugins = bench.registry.plugins();
  const problems = bench.registry.problems();
  const { shadowed } = bench.project.catalogue;
  await bench.close();
  const stateOf = (row: number) => plugins[row]?.state ?? 'stopped';
  const columns = [
    { title: 'name', shrinkTo: 8 },
    { title: 'version', drop: 2 },
    { title: 'state', paint: (cell: string, row: number) => inColourOfState(stateOf(row), cell) },
    { title: 'from', drop: 1 },
    { title: 'offers', shrinkTo: 12 },
  ];
  const rows = plugins.map(({ name, version, state, origin, tools, models, agents, policies = [] }) => [
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
      ].join(', '),
    ),
  ]);
  const [head = '', ...lines] = table(columns, rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of lines) out.line(line);
  for (const record of problems) for (const line of unavailableLines(record)) out.line(line);
  for (const copy of shadowed)
    out.line(visible(`${copy.name} in ${copy.folder} is not used: ${copy.by} comes first`));
  for (const plugin of plugins) out.record({ type: 'plugin', ...plugin });
  return { result: { plugins: plugins.length, problems, shadowed } };
}
