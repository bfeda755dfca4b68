/** `chassis plugin show`: one plugin, from its manifest and as it is now. */

import { didYouMean } from '@chassis/schema';
import type { ToolDefinition } from '@chassis/types';
import { usage } from '../failure.ts';
import { inColourOfState, unavailableLines } from '../present/plugin.ts';
import { fullValue, indent } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint } from '../terminal/screen.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginShow({ args: [name = ''], globals, out }: Call): Promise<Ending> {
  const bench = await openWorkbench({ globals, out });
  const plugins = bench.registry.plugins();
  const live = bench.registry.tools().filter((tool) => tool.plugin.name === name);
  await bench.close();
  const plugin = plugins.find((one) => one.name === name);
  if (plugin === undefined)
    throw usage(
      `there is no plugin "${name}"${didYouMean(
        name,
        plugins.map((one) => one.name),
      )}; chassis plugin ls lists them`,
    );
  const manifest = bench.project.catalogue.find(name)?.source.manifest;
  out.line(
    `${paint('bold', visible(plugin.name))} ${plugin.version}  ${inColourOfState(plugin.state, plugin.state)}`,
  );
  if (manifest !== undefined) out.line(`  ${visible(manifest.description)}`);
  const facts = {
    folder: plugin.folder,
    from: plugin.origin,
    digest: plugin.digest,
    runtime: manifest?.runtime ?? 'unknown',
    criticality: plugin.criticality,
    permissions: `${plugin.enforcement === 'declared' ? 'declared only, not enforced' : `enforced by ${plugin.enforcement}`}`,
  };
  for (const [key, value] of Object.entries(facts)) out.line(`  ${key.padEnd(12)} ${visible(value)}`);
  if (manifest !== undefined) out.line(indent(fullValue({ ...manifest.permissions } as never), 4));
  // Schemas may stand in the plugin's code: what runs knows them, the manifest does not.
  const toolOf = (tool: ToolDefinition) =>
    live.find(({ definition }) => definition.name === tool.name)?.definition ?? tool;
  for (const tool of (manifest?.tools ?? []).map(toolOf)) {
    out.line(
      `  tool ${paint('bold', visible(tool.name))}  effects ${tool.effects}${tool.idempotent ? ', idempotent' : ''}, approval ${tool.approval}`,
    );
    out.line(`    ${visible(tool.description)}`);
    out.line(indent(fullValue(tool.input), 4));
    if (tool.output !== undefined) out.line(indent(`answers\n${fullValue(tool.output)}`, 4));
  }
  const further = plugin.tools.filter(
    (tool) => manifest?.tools.every((known) => known.name !== tool) ?? true,
  );
  if (further.length > 0) out.line(`  tools ${visible(further.join(', '))}`);
  if (plugin.models.length > 0) out.line(`  models ${visible(plugin.models.join(', '))}`);
  if (plugin.agents.length > 0) out.line(`  agents ${visible(plugin.agents.join(', '))}`);
  if ((plugin.skills ?? []).length > 0) out.line(`  skills ${visible((plugin.skills ?? []).join(', '))}`);
  if (plugin.unavailable !== undefined)
    for (const line of unavailableLines(plugin.unavailable)) out.line(`  ${line}`);
  return { result: { plugin, ...(manifest === undefined ? {} : { manifest }) } };
}
