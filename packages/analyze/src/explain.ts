/**
 * A `Why` as lines for a terminal: one screen, no colours, nothing that is not in it.
 *
 * Recorded text is shown with control characters made visible.
 */
import type { ChainLink, End } from './chain.ts';
import { type Statuses, statusText } from './statuses.ts';
import type { Note, Suspicion, Why } from './why.ts';
import { clip, dollars, duration, visible } from './words.ts';

const mostLinks = 8;
const mostOthers = 3;
const mostNotes = 4;
const width = 110;

/** The lines, without line ends. */
export function explain(why: Why): string[] {
  const lines = [head(why)];
  if (why.status === 'none' || !why.symptom) {
    const unheard = why.also
      .slice(0, mostNotes)
      .map((note, index) => row(index === 0 ? 'but' : '', noteText(note)));
    return [...lines, row('', 'nothing failed in this run'), ...unheard];
  }
  const { symptom, cause } = why;
  const inside = symptom.inside === undefined ? '' : `  (inside :${symptom.inside})`;
  lines.push(row('symptom', `:${symptom.step} ${symptom.kind} ${symptom.name}  ${symptom.status}${inside}`));
  lines.push(row('', symptom.text));
  lines.push(row('status', brief(symptom.statuses)));
  if (cause) {
    const value = cause.value === undefined ? '' : ` = ${short(cause.value)}`;
    lines.push(
      row(
        'CAUSE',
        `:${cause.step} ${cause.kind} ${cause.name}  ${cause.pointer ?? ''}${value}  [${cause.label}]`,
      ),
    );
    lines.push(row('', `${cause.text}  (${cause.rule})`));
  } else {
    lines.push(row('cause', `the record does not show one; these ${why.slice.length} steps led here`));
  }
  lines.push(...chainLines(why.chain));
  lines.push(
    ...why.also.slice(0, mostNotes).map((note, index) => row(index === 0 ? 'also' : '', noteText(note))),
  );
  // Where something speaks for itself, what is merely near to the failed call is no help.
  const noted = new Set(why.also.slice(0, mostNotes).map(({ step, text }) => `${step} ${text}`));
  const told = why.others.filter(
    ({ rule, step, text }) =>
      !noted.has(`${step} ${text}`) && (rule !== 'related' || !cause || cause.label === 'guess'),
  );
  const others = told.slice(0, cause ? mostOthers : mostOthers + 2);
  lines.push(
    ...others.map((other, index) => row(index === 0 ? (cause ? 'or' : 'look at') : '', suspicionText(other))),
  );
  const older = why.older ? ', and older ones: not looked at' : '';
  lines.push(row('slice', `${why.slice.length} of ${why.total} steps: ${numbers(why.slice)}${older}`));
  return lines;
}

function head({ run, status: found, symptom }: Why): string {
  const mark = found === 'none' ? '✓' : '✗';
  const asked = symptom?.asked ?? symptom?.about !== undefined;
  const where = symptom ? `  ${asked ? 'asked about' : 'failed at'} :${symptom.step}` : '';
  const parts = [
    run.model,
    `${run.steps} steps`,
    duration(run.duration_ms),
    dollars(run.cost_usd, run.cost_lower_bound),
  ];
  return visible(
    `${mark} session ${clip(run.session, 40)}  "${clip(run.title, 48)}"  ${parts.join('  ')}${where}`,
  );
}

function chainLines(chain: readonly ChainLink[]): string[] {
  const [first] = chain;
  if (!first) return [];
  const start = row('chain', place(first.from));
  const shown = chain.length <= mostLinks ? chain : [...chain.slice(0, mostLinks - 2), ...chain.slice(-2)];
  const links = shown.map(({ to, how, label }) => row('', `  ← ${place(to)}  ${how}  [${label}]`));
  const left = chain.length - shown.length;
  if (left > 0) links.splice(mostLinks - 2, 0, row('', `  … ${left} more links`));
  return [start, ...links];
}

function place({ step, name, pointer, range, text, type }: End): string {
  const part = range ? `@${range[0]}-${range[1]}` : '';
  return `:${step} ${name} ${pointer}${part}${text === undefined ? '' : ` ${type === 'number' ? text : short(text)}`}`;
}

function noteText({ step, pointer, text }: Note): string {
  return `:${step} ${pointer === undefined ? '' : `${pointer} `}${text}`;
}

function suspicionText({ step, name, pointer, text, score }: Suspicion): string {
  return `:${step} ${name} ${pointer ?? ''}  ${text}  (${score.toFixed(2)})`;
}

/** The four statuses; what the failure says stands above already. */
function brief(found: Statuses): string {
  const { says, ...rest } = found;
  return statusText(found.step === 'ok' && says !== undefined ? found : rest);
}

/** 1–4, 7, 9–12. */
function numbers(steps: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    if (run && run[1] === step - 1) run[1] = step;
    else runs.push([step, step]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
}

function short(value: unknown): string {
  return clip(JSON.stringify(value) ?? '', 48);
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(8)} ${clip(visible(text), width * 2)}`.trimEnd();
}
