/** The failure misses something that an earlier call of this run took away. */
import { leavesOf } from '../json.ts';
import { findExact } from '../match.ts';
import { failureInside } from './looks.ts';
import type { Rule } from './rule.ts';

const gone =
  /does(?: not|n't) exist|not found|no such|missing|unknown|undefined|is not there|could not find|cannot find|was deleted|gone|404|nicht gefunden|existiert nicht|introuvable|不存在|找不到/i;
const removing =
  /(?:^|[^a-z])(?:drop|delete|del|remove|rm|unlink|rmdir|truncate|purge|destroy|uninstall|revoke|unset|rename|mv|move|prune|clean)(?:[^a-z]|$)/i;
const mostText = 2000;

export const removedBefore: Rule = {
  name: 'removed-before',
  *find({ view, steps, symptom }) {
    if (!gone.test(symptom.text)) return;
    const failed = view.step(symptom.step);
    const words = new Set(
      (symptom.text.replace(/^\w+: /, '').match(/[\p{L}\p{N}][\p{L}\p{N}_./-]*/gu) ?? []).filter(
        (word) => failed !== undefined && speaksOf(failed.input, word),
      ),
    );
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'ok' || step.number >= symptom.step || failureInside(step))
        continue;
      const texts = leavesOf(step.input).filter(({ text }) => text.length <= mostText);
      if (!removing.test(step.name) && !texts.some(({ text }) => removing.test(text))) continue;
      const thing = [...words].find((word) => texts.some(({ text }) => holds(text, word)));
      if (thing === undefined) continue;
      const text = `${thing}, which the failure misses, was taken away here`;
      yield { step: step.number, pointer: '/input', text, score: 0.74, kind: 'act' };
    }
  },
};

function speaksOf(input: unknown, word: string): boolean {
  return leavesOf(input).some(({ text }) => text.length <= mostText && holds(text, word));
}

function holds(text: string, word: string): boolean {
  return text === word || findExact(word, text) !== undefined;
}
