/** What a re-execution found, as lines: the divergence, what the record covers, which plugins are others now. */
import type { Coverage, Divergence, PluginDrift } from '@chassis/runtime';
import { visible } from '../terminal/text.ts';
import { fullValue, indent, shortValue } from './value.ts';

const words: readonly (readonly [keyof Coverage['recorded'], string, string])[] = [
  ['model', 'model call', 'model calls'],
  ['tool', 'tool call', 'tool calls'],
  ['state', 'state change', 'state changes'],
  ['now', 'read of the clock', 'reads of the clock'],
  ['random', 'random number', 'random numbers'],
  ['uuid', 'uuid', 'uuids'],
  ['approval', 'approval', 'approvals'],
  ['file', 'file change', 'file changes'],
];

/** `from the record: …`, and what ran outside of it. */
export function coverageLines({ recorded, outside }: Coverage): string[] {
  const parts = words.flatMap(([kind, one, many]) => {
    const number = recorded[kind];
    return number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  });
  return [
    `  on record: ${parts.join(', ') || 'nothing'}`,
    '  not on record:',
    ...[...Map.groupBy(outside, ({ what }) => what)].map(
      ([what, of]) => `    ${of.map(({ plugin }) => visible(plugin)).join(', ')}: ${what}`,
    ),
  ];
}

type Found = Pick<Divergence, 'expected' | 'actual' | 'message'> &
  Partial<Pick<Divergence, 'nearest' | 'plugin'>>;

export function divergenceLines({
  expected,
  actual,
  message,
  nearest,
  plugin,
}: {
  readonly [M in keyof Found]: unknown;
} & Pick<Found, 'message' | 'nearest' | 'plugin'>): string[] {
  return [
    `  ${visible(message)}`,
    '  expected',
    indent(fullValue(expected as never), 4),
    '  actual',
    indent(fullValue(actual as never), 4),
    ...(nearest === undefined ? [] : [nearestLine(nearest)]),
    ...(plugin === undefined ? [] : [`  asked by plugin ${visible(plugin.name)} ${pluginState(plugin)}`]),
  ];
}

function nearestLine({ step, name, path, expected, actual }: NonNullable<Divergence['nearest']>): string {
  if (path === '')
    return `  nearest on record: step ${step} (${visible(name)}), the same input at another place`;
  const values = `${shortValue(expected, 60)} there, ${shortValue(actual, 60)} here`;
  return `  nearest on record: step ${step} (${visible(name)}), ${visible(path)} is ${values}`;
}

function pluginState({ recorded, now }: Divergence['plugin']): string {
  if (now === null) return `${recorded.version}, which is not there now`;
  if (now.version === recorded.version && now.digest === recorded.digest)
    return `${recorded.version}, the same code as on record`;
  return `${now.version} (${now.digest.slice(0, 12)}); on record it is ${recorded.version} (${recorded.digest.slice(0, 12)})`;
}

/** Plugins that are others now than on record. */
export function driftLines(plugins: readonly PluginDrift[]): string[] {
  return plugins.map(({ name, recorded, now, step }) => {
    const where = step === null ? '' : ` (first used in step ${step})`;
    if (now === null) return `  plugin ${visible(name)} ${recorded.version} is not there now${where}`;
    return `  plugin ${visible(name)} ${now.version} has other code than ${recorded.version}, which is on record${where}`;
  });
}
