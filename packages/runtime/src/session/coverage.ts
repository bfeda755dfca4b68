/**
 * What a re-execution can answer for, and what it cannot.
 *
 * Promise: pure; nothing is called covered that is not on record.
 */
import type { SessionView, Step } from '@chassis/journal';

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
  /** What is not on record although it had a part in the run, in the order of the steps. */
  readonly outside: readonly Outside[];
}

export interface Outside {
  readonly plugin: string;
  /** First step that it answered; null for the agent's own plugin. */
  readonly step: number | null;
  readonly what: string;
}

/** How many values of each kind an agent was given from the record. */
export type Given = Pick<Coverage['recorded'], 'now' | 'random' | 'uuid'>;

/**
 * @param until only steps up to this one count; all without it
 * @param given what the agent read by itself up to there
 */
export function coverage(view: SessionView, until?: number, given?: Given): Coverage {
  const steps =
    until === undefined
      ? view.steps
      : Array.from({ length: until }, (_, at) => view.step(at + 1) ?? []).flat();
  const kind = (name: string) => steps.filter((step) => step.kind === name).length;
  const read = (name: keyof Given) =>
    (until === undefined ? 0 : (given?.[name] ?? 0)) +
    view.values.filter(
      (value) => value.name === name && (until === undefined || (value.step !== null && value.step <= until)),
    ).length;
  const effects = steps.flatMap((step) => step.effects);
  const approvals =
    until === undefined
      ? view.approvals
      : view.approvals.filter((approval) => ((approval as { step?: number } | null)?.step ?? 0) <= until);
  return {
    recorded: {
      model: kind('model'),
      tool: kind('tool'),
      state: kind('state'),
      now: read('now'),
      random: read('random'),
      uuid: read('uuid'),
      approval: approvals.length,
      file: effects.filter((effect) => effect.kind === 'file').length,
    },
    outside: [
      {
        plugin: view.header.agent.name,
        step: null,
        what: 'what it reads without asking the harness (Date, Math.random, environment, files)',
      },
      ...pluginsOutside(steps),
    ],
  };
}

function pluginsOutside(steps: readonly Step[]): Outside[] {
  const found = new Map<string, Outside>();
  for (const { plugin, number, kind, effects } of steps) {
    if (plugin === null || kind === 'state') continue;
    const requests = effects.filter((effect) => effect.kind === 'http').length;
    const processes = effects.filter((effect) => effect.kind === 'process').length;
    const known = found.get(plugin.name);
    if (known !== undefined && requests + processes === 0) continue;
    const seen = [
      requests > 0 ? 'bodies of network requests, as far as the answer does not show them' : '',
      processes > 0 ? 'what processes read and did, beside the files of the workspace that they changed' : '',
    ].filter(Boolean);
    const what =
      seen.length > 0
        ? seen.join(' and ')
        : kind === 'model'
          ? 'the wire to the provider'
          : 'files, network and environment that its code read by itself';
    found.set(plugin.name, { plugin: plugin.name, step: known?.step ?? number, what });
  }
  return [...found.values()];
}
