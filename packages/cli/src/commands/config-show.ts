/** `chassis config show`: the configuration in force. Placeholders are shown as they were written, never resolved. */
import { configLines } from '@chassis/runtime/project';
import { shortValue } from '../present/value.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';

export async function configShow({ options, globals, out }: Call<{ origin?: true }>): Promise<Ending> {
  const project = await projectOf(globals);
  const lines = configLines(project, { unset: options.origin === true });
  const rows = lines.map(({ key, value, origin }) => [
    visible(key),
    value === null ? '–' : shortValue(value as never, 120),
    visible(origin),
  ]);
  const columns = [{ title: 'key' }, { title: 'value', shrinkTo: 12 }];
  const shown = options.origin === true ? [...columns, { title: 'from', shrinkTo: 12 }] : columns;
  const [head = '', ...body] = table(shown, rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of body) out.line(line);
  for (const line of lines) out.record({ type: 'setting', ...line });
  return { result: { root: project.root, file: project.file } };
}
