/**
 * What a re-execution can answer for, and what it cannot.
 *
 * Promise: pure; nothing is called covered that is not on record.
 */
import type { SessionView } from '@chassis/journal';

export interface Coverage {
  /** How many answers of each kind are on record. */
  readonly recorded: {
    readonly model: number;
    readonly tool: number;
    readonly state: number;
    readonly now: number;
    readonly random: number;
    readonly uuid: number;
    readonly approval: number;
    /** File changes whose content before and after is kept. */
    readonly file: number;
  };
  /** What ran beside the record. A sentence each, in the order of the steps. */
  readonly outside: readonly Outside[];
}

export interface Outside {
  readonly plugin: string;
  /** First step that it answered; null for the agent's own plugin. */
  readonly step: number | null;
  readonly what: string;
}

export function coverage(view: SessionView): Coverage {
  const kind = (name: string) => view.steps.filter((step) => step.kind === name).length;
  const read = (name: string) => view.values.filter((value) => value.name === name).length;
  const effects = view.steps.flatMap((step) => step.effects);
  return {
    recorded: {
      model: kind('model'),
      tool: kind('tool'),
      state: kind('state'),
      now: read('now'),
      random: read('random'),
      uuid: read('uuid'),
      approval: view.approvals.length,
      file: effects.filter((effect) => effect.kind === 'file').length,
    },
    outside: [
      {
        plugin: view.header.agent.name,
        step: null,
        what: 'what the agent reads without asking the harness (Date, Math.random, environment, files) is not on record; it shows as a divergence as soon as it changes a request',
      },
      ...pluginsOutside(view),
    ],
  };
}

function pluginsOutside(view: SessionView): Outside[] {
  const found = new Map<string, Outside>();
  for (const { plugin, number, kind, effects } of view.steps) {
    if (plugin === null || kind === 'state') continue;
    const requests = effects.filter((effect) => effect.kind === 'http').length;
    const processes = effects.filter((effect) => effect.kind === 'process').length;
    const known = found.get(plugin.name);
    if (known !== undefined && requests + processes === 0) continue;
    const seen = [
      requests > 0
        ? 'network requests (named on record, their bodies only as far as the answer shows them)'
        : '',
      processes > 0
        ? 'processes (argv, exit code and changed files of the workspace on record, what else they read and did is not)'
        : '',
    ].filter(Boolean);
    const what =
      seen.length > 0
        ? seen.join(' and ')
        : kind === 'model'
          ? 'the wire to the provider; request and answer are on record'
          : 'files, network and environment that its code read by itself; its answers are on record';
    found.set(plugin.name, { plugin: plugin.name, step: known?.step ?? number, what });
  }
  return [...found.values()];
}
