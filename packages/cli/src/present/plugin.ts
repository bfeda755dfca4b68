/** Plugins for people: state, offer, and the one record that says why something is not there. */
import type { PluginState, Unavailable } from '@chassis/runtime';
import { paint } from '../terminal/screen.ts';
import { visible } from '../terminal/text.ts';

const colours: Readonly<Record<PluginState, 'green' | 'red' | 'yellow' | 'dim' | 'cyan'>> = {
  active: 'green',
  loading: 'cyan',
  unavailable: 'yellow',
  failed: 'red',
  disabled: 'dim',
  stopped: 'dim',
};

export function inColourOfState(state: PluginState, text: string): string {
  return paint(colours[state], text);
}

/** What is missing, why, and what to do about it; a cause may be several places of a file. */
export function unavailableLines({ capability, phase, cause, fix, alternatives }: Unavailable): string[] {
  const [first = '', ...rest] = cause.message.split('\n');
  return [
    `${visible(capability)} is unavailable (${phase}): ${visible(first)}`,
    ...rest.map((line) => `  ${visible(line)}`),
    `  to do: ${visible(fix)}`,
    ...(alternatives.length === 0 ? [] : [`  instead: ${alternatives.map(visible).join(', ')}`]),
  ];
}
