/** `chassis plugin pins`: tools whose definition changed since their first use, both forms side by side; takes them as they are now. */
import { ExitCode } from '@chassis/errors';
import { usage } from '../failure.ts';
import { demandPlugin } from '../plugin-folder.ts';
import { mark } from '../present/mark.ts';
import { fullValue, indent } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';

export async function pluginPins({
  args: [name],
  options,
  globals,
  out,
}: Call<{ accept?: true }>): Promise<Ending> {
  if (options.accept === true && name === undefined)
    throw usage('--accept needs the name of a plugin: chassis plugin pins NAME --accept');
  const bench = await openWorkbench({ globals, out });
  try {
    if (name !== undefined) demandPlugin(name, bench.project);
    const changed = bench.registry.changedTools().filter((one) => name === undefined || one.plugin === name);
    for (const { plugin, tool, pinned, now } of changed) {
      out.line(`${mark('unknown')} ${visible(plugin)} ${visible(tool)}`);
      for (const member of new Set([...Object.keys(pinned), ...Object.keys(now)])) {
        const [before, after] = [pinned[member], now[member]];
        if (JSON.stringify(before) === JSON.stringify(after)) continue;
        out.line(`  ${visible(member)} was`);
        out.line(indent(indent(before === undefined ? 'not there' : fullValue(before))));
        out.line('  and is');
        out.line(indent(indent(after === undefined ? 'not there' : fullValue(after))));
      }
      out.record({ type: 'changed', plugin, tool, pinned, now });
    }
    const accepted = options.accept === true && name !== undefined ? bench.registry.acceptTools(name) : [];
    if (changed.length === 0) out.line('no tool has changed since its first use');
    else if (accepted.length > 0) out.line(`${mark('ok')} accepted: ${accepted.map(visible).join(', ')}`);
    return {
      exit: changed.length > accepted.length ? ExitCode.failed : ExitCode.ok,
      result: { changed: changed.length, accepted },
    };
  } finally {
    await bench.close();
  }
}
