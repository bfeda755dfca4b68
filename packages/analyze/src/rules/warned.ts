/** A result came with a warning: something was left out, skipped, or not as it should be, and the run went on as if it were. */
import type { Json } from '@chassis/types';
import { leafText, outputLeaves } from '../json.ts';
import { lastKey, parentOf } from '../pointer.ts';
import { brief, type Finding } from './looks.ts';
import type { Rule } from './rule.ts';

/** Members that hold what went not quite right. */
const warning =
  /^(?:warnings?|unresolved|skipped(?:_\w+)?|ignored|excluded|omitted|not_(?:run|applied|loaded|found|matched|included|copied)|dropped|unmatched|missing|conflicts?|deprecat\w+|caveats?|incomplete(?:_results)?|partial|unsupported|truncated)$/i;
/** Members that hold words, and words that tell of something amiss. */
const remark =
  /^(?:note|notes|notice|message|msg|info|hint|remark|comment|detail|details|warning|warnings|stderr)$/i;
const amiss =
  /\b(?:no (?:files?|rows?|matches|results?|entries) (?:matched|found)|(?:were|was|are|is) (?:not|left out|skipped|ignored|excluded|omitted|dropped|hidden|filtered|masked|cut)|not (?:run|applied|included|copied|loaded|resolved)|excluded by|skipp(?:ed|ing)|ignor(?:ed|ing)|falling back|fallback|deprecated|only the first|first \d+ (?:items?|rows?|results?)|instead of|could not|unable to|unset|undefined variable|read-only|\d+ (?:\w+ )?(?:rows?|items?|records?|results?|entries|keys|files?) (?:hidden|filtered|omitted|removed|dropped|skipped|excluded|ignored|missing))\b/i;
const failedPart = /^(?:error|failed|failure|fatal|refused|rejected|timeout|skipped)\s*[:(-]\s*\S.*$/i;
/** Tells nearly all places apart before their names are cut out. */
const mayWarn =
  /warn|resolv|skip|ignor|exclud|omit|not_|drop|match|miss|conflict|deprecat|caveat|complete|partial|support|truncat|note|notice|mess|msg|info|hint|remark|comment|detail|stderr/i;
const mostLeaves = 120;

export const warned: Rule<Finding> = {
  name: 'warned',
  see({ kind, status }, _output, recorded) {
    return kind === 'tool' && status === 'ok' ? warningIn(recorded) : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools)
      for (const step of fresh) {
        const found = seen.get(step.number);
        if (!found) continue;
        const text = `the result of ${name} came with a warning: ${found.text}`;
        yield { step: step.number, pointer: found.pointer, text, score: 0.6, kind: 'missing' };
      }
  },
};

function warningIn(output: Json | undefined): Finding | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  for (const { pointer, value } of outputLeaves(output).slice(0, mostLeaves)) {
    const failed = typeof value === 'string' && value.length < 200 && failedPart.test(value);
    if (!failed && !mayWarn.test(pointer)) continue;
    const list = /\/\d+$/.test(pointer);
    const name = lastKey(list ? parentOf(pointer) : pointer);
    const text = leafText(value) ?? '';
    const says = value !== false && value !== null && value !== 0 && text !== '' && text !== '0';
    if (warning.test(name) && says) return { pointer, text: `${name}: ${brief(value)}` };
    // One part of what was done: `nodes: { n3: 'error: disk full' }`.
    if (failed && !list) return { pointer, text: `${name}: ${brief(value)}` };
    if (remark.test(name) && typeof value === 'string' && value.length < 2000 && amiss.test(value))
      return { pointer, text: brief(value) };
  }
  return undefined;
}
