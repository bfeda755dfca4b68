/** Facts about a suspect beside what its rule says: how it is tied to the failure, and how usual its like is in the run. */

import { sourcesOf } from '../../packages/analyze/src/lineage.ts';
import type { Ranked } from '../../packages/analyze/src/rank.ts';
import { relationsOf } from '../../packages/analyze/src/rules/related.ts';
import type { Evidence } from '../../packages/analyze/src/rules/rule.ts';
import { tiesOf } from '../../packages/analyze/src/ties.ts';
import type { Step } from '../../packages/journal/src/index.ts';

/** Every fact is 0 or 1, or a small number. */
export type Facts = Readonly<Record<string, number>>;

export function factsOf(evidence: Evidence, suspects: readonly Ranked[]): (suspect: Ranked) => Facts {
  const { view, symptom, traces, tools } = evidence;
  const isTied = tiesOf(evidence);
  const failed = view.step(symptom.step);
  const relations = failed && relationsOf(evidence, failed);
  const direct = traces.filter(({ complaint }) => complaint.kind === 'direct');
  const at = (list: typeof traces) =>
    new Set(list.flatMap(({ lineage }) => sourcesOf(lineage).map(({ step }) => step)));
  const bornDirect = at(direct);
  const born = at(traces);
  const via = new Set(traces.flatMap(({ lineage }) => lineage.links.map(({ to }) => to.step)));
  const places = new Map<string, Set<number>>();
  const rules = new Map<number, Set<string>>();
  for (const { rule, step } of suspects) {
    (places.get(rule) ?? places.set(rule, new Set()).get(rule))?.add(step);
    (rules.get(step) ?? rules.set(step, new Set()).get(step))?.add(rule);
  }
  const uses = new Map(tools.map(({ name, fresh }) => [name, fresh.length]));
  const fed = failed ? new Set([failed.name]) : new Set<string>();
  return (suspect) => {
    const step: Step | undefined = view.step(suspect.step);
    const reasons = step?.kind === 'tool' && step !== failed ? (relations?.reasonsOf(step) ?? []) : [];
    const has = (start: string): number => Number(reasons.some(([, text]) => text.startsWith(start)));
    return {
      tied: Number(isTied(suspect.step)),
      symptom: Number(suspect.step === symptom.step),
      sameTool: Number(step !== undefined && step !== failed && fed.has(step.name)),
      bornDirect: Number(bornDirect.has(suspect.step)),
      born: Number(!bornDirect.has(suspect.step) && born.has(suspect.step)),
      via: Number(!born.has(suspect.step) && via.has(suspect.step)),
      member: has('its result has a member'),
      asked: has('it was given'),
      form: has('its result holds values'),
      shared: has('it was asked about'),
      failed: Number(step?.error !== undefined),
      model: Number(step?.kind === 'model'),
      state: Number(!step),
      crowd: Math.log2(places.get(suspect.rule)?.size ?? 1),
      uses: Math.log2(Math.max(1, uses.get(step?.name ?? '') ?? 1)),
      others: Math.log2(rules.get(suspect.step)?.size ?? 1),
      back: (symptom.step - suspect.step) / Math.max(1, symptom.step),
      madeUp: Number(direct.some(({ lineage }) => lineage.origin === 'model' && !lineage.derived)),
    };
  };
}
