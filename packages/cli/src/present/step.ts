/** One step with everything that is known about it. */
import { getPointer, lostBlobIn, type SessionView, type Step, stringifyJson } from '@chassis/journal';
import type { Effect, FileForm, JsonObject, Message, ModelResponse } from '@chassis/types';
import { isBundlePath } from '../address.ts';
import { usage } from '../failure.ts';
import { paint } from '../terminal/screen.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible, visibleLines } from '../terminal/text.ts';
import { duration, moment, money } from '../terminal/units.ts';
import { lostLine, lostLines } from './damage.ts';
import { inColourOf, mark } from './mark.ts';
import { tokens } from './step-line.ts';
import { errorLine } from './timeline.ts';
import { fullValue, indent, shortValue } from './value.ts';

/**
 * @param name the session as a person can type it again
 * @param statuses whether the call came back, what the answer says, how the step counts, how the run ended
 */
export function stepLines(view: SessionView, number: number, name: string, statuses?: string): string[] {
  const step = stepOf(view, number);
  const head = `${mark(step.status)} step ${step.number}  ${step.kind} ${paint('bold', visible(step.name))}  ${inColourOf(step.status, step.status)}`;
  return [
    step.duration_ms === undefined ? head : `${head}  ${duration(step.duration_ms)}`,
    ...(statuses === undefined ? [] : [`  ${visible(statuses)}`]),
    ...facts(view, step).map((fact) => `  ${fact}`),
    ...attempts(step),
    ...input(view, step),
    ...output(step),
    ...step.effects.map((effect) => `${paint('bold', 'effect')}  ${effectLine(effect)}`),
    ...step.edits.map(
      (edit) => `${paint('bold', 'edited')}  ${visible(edit.path)} = ${shortValue(edit.value, 200)}`,
    ),
    ...view.notes
      .filter((note) => note.step === number)
      .map((note) => `${paint('bold', 'note')}  by ${visible(note.author)}: ${visible(note.text)}`),
    '',
    ...next(view, step, name).map((line) => paint('dim', line)),
  ];
}

/** The step as data; the input of a model step is the request as the model saw it. */
export function stepRecord(view: SessionView, number: number): JsonObject {
  const step = stepOf(view, number);
  const input = step.kind === 'model' ? view.request(number) : step.input;
  // A step's large values are fetched when they are read: spread them once.
  return { ...step, input } as unknown as JsonObject;
}

function stepOf(view: SessionView, number: number): Step {
  const step = view.step(number);
  if (step === undefined) throw usage(`session ${view.header.id} has no step ${number}`);
  return step;
}

/** Steps that a step may have led to; of a long session those of its own turn. */
function following(view: SessionView, { number, turn }: Step): readonly Step[] {
  if (view.marks === undefined) return view.steps;
  return view.steps.slice(number, view.marks.before(turn + 1) ?? view.steps.length);
}

function facts(view: SessionView, step: Step): string[] {
  const lines = [`${moment(step.started)} · turn ${step.turn} · agent ${visible(step.agent)}`];
  if (step.plugin !== null)
    lines.push(
      visible(`plugin ${step.plugin.name} ${step.plugin.version} (${step.plugin.digest.slice(0, 12)})`),
    );
  if (step.causes.length > 0)
    lines.push(
      `because of ${step.causes.map((cause) => `step ${cause} (${named(view, cause)})`).join(', ')}`,
    );
  if (step.parent !== null) lines.push(`inside step ${step.parent} (${named(view, step.parent)})`);
  const led = following(view, step)
    .filter((other) => other.causes.includes(step.number))
    .map((other) => other.number);
  if (led.length > 0) lines.push(`led to step${led.length === 1 ? '' : 's'} ${led.join(', ')}`);
  if (step.usage) {
    const { cached, reasoning, cost_usd } = step.usage;
    lines.push(
      [
        `${tokens(step.usage)} tokens`,
        cached > 0 ? `${cached} cached` : '',
        reasoning > 0 ? `${reasoning} for reasoning` : '',
        money(cost_usd),
      ]
        .filter((part) => part !== '')
        .join(' · '),
    );
  }
  return lines;
}

function named(view: SessionView, number: number): string {
  const step = view.step(number);
  return step === undefined ? 'not on record' : `${step.kind} ${visible(step.name)}`;
}

function attempts(step: Step): string[] {
  if (step.attempts.length < 2 && step.attempts[0]?.error === undefined) return [];
  return step.attempts.map(({ number, model, error, wait_ms }) => {
    const what = error === undefined ? 'the last one' : errorLine(error);
    const wait = wait_ms === undefined ? '' : `, then ${duration(wait_ms)} of waiting`;
    return `  attempt ${number}${model === undefined ? '' : ` (${visible(model)})`}: ${what}${wait}`;
  });
}

function input(view: SessionView, step: Step): string[] {
  const title = paint('bold', 'input');
  if (step.lost === true)
    return [title, indent(lostLine('the start of this step, with its kind, name and input'))];
  if (step.kind !== 'model')
    return [title, indent(fullValue(step.input)), ...lostLines(step.input).map((line) => indent(line))];
  const { messages, tools, params, missing = [] } = view.request(step.number);
  return [
    title,
    ...messages.flatMap((message) => messageLines(message)).map((line) => indent(line)),
    ...missing.map((what) => indent(lostLine(what))),
    ...(tools.length === 0 && missing.length > 0
      ? []
      : [indent(`tools: ${tools.map((tool) => visible(tool.name)).join(', ') || 'none'}`)]),
    ...(Object.keys(params).length === 0 ? [] : [indent(`params: ${shortValue(params, 400)}`)]),
  ];
}

function output(step: Step): string[] {
  if (step.error !== undefined) {
    const { data } = step.error;
    const error = [inColourOf(step.status, 'error'), indent(visibleLines(errorLine(step.error)))];
    return data === undefined ? error : [...error, indent(fullValue(data as JsonObject))];
  }
  if (step.output === undefined) {
    const text = step.attempts.at(-1)?.text ?? '';
    return text === '' ? [] : [paint('bold', 'output so far'), indent(visibleLines(text))];
  }
  const lost = lostLines(step.output);
  if (step.kind !== 'model' || lost.length > 0)
    return [paint('bold', 'output'), indent(fullValue(step.output)), ...lost.map((line) => indent(line))];
  const { message, finish_reason } = step.output as unknown as ModelResponse;
  return [
    paint('bold', 'output'),
    ...messageLines(message).map((line) => indent(line)),
    indent(paint('dim', `finish reason: ${visible(finish_reason)}`)),
  ];
}

/** A message as a person reads it. */
export function messageLines(message: Message): string[] {
  const role = message.role === 'tool' ? `tool result (${visible(message.tool_call_id)})` : message.role;
  const lines = [paint('cyan', role)];
  if (message.role === 'assistant' && message.reasoning !== undefined)
    lines.push(paint('dim', indent(visibleLines(message.reasoning))));
  if (message.content !== '') lines.push(indent(visibleLines(message.content)));
  if (message.role === 'assistant')
    for (const call of message.tool_calls ?? [])
      lines.push(indent(`→ ${visible(call.name)} ${visible(call.arguments)}  (${visible(call.id)})`));
  return lines;
}

function effectLine(effect: Effect): string {
  switch (effect.kind) {
    case 'file':
      return `${effect.op} ${visible(effect.path)}  ${stand(effect.before, effect.before_form)} → ${stand(effect.after, effect.after_form)}`;
    case 'process':
      return `ran ${visible(effect.argv.join(' '))}, exit ${effect.exit_code ?? 'unknown'}`;
    case 'http':
      return `${visible(effect.method)} ${visible(effect.url)}, status ${effect.status ?? 'none'}`;
  }
}

function stand(content: string | null, form: FileForm = {}): string {
  if (content === null) return 'nothing';
  const kept = /^[0-9a-f]{64}$/.test(content)
    ? content.slice(0, 12)
    : content.replace(/^(keyed:.{12}).*/, '$1');
  const mode = form.mode === undefined ? '' : ` ${form.mode.toString(8).padStart(4, '0')}`;
  return `${form.link === true ? 'link ' : ''}${kept}${mode}`;
}

/** Commands that work as they stand, and in words what can be changed there. */
function next(view: SessionView, step: Step, name: string): string[] {
  const here = `${name}:${step.number}`;
  const forward =
    view.step(step.number + 1) === undefined
      ? []
      : [`chassis show ${shellWord(`${name}:${step.number + 1}`)}`];
  const why = step.error === undefined ? [] : [`chassis why ${shellWord(here)}`];
  const line = (commands: readonly string[]): string[] =>
    commands.length === 0 ? [] : [`next: ${commands.join('   ')}`];
  if (step.seq.finished === undefined)
    return line(isBundlePath(name) ? forward : [`chassis resume ${name}`, ...forward]);
  const commands = line([...(step.error === undefined ? forward : why)]);
  if (isBundlePath(name) || step.kind === 'state') return commands;
  if (step.output === undefined)
    return [
      ...commands,
      `to go on with another answer: chassis fork ${here} with --set '/output=…' (its answer as JSON) and --run`,
    ];
  const edit = setWord(step, '/output');
  return edit === undefined || step.kind === 'model'
    ? commands
    : [...commands, `with another answer in it: chassis fork ${here} ${edit} --run`];
}

/** `--set` with the value on record, for a person to change; none when it is too long for a line. */
function setWord(step: Pick<Step, 'output'>, pointer: string): string | undefined {
  const value = getPointer({ output: step.output ?? null }, pointer);
  const text = stringifyJson(value);
  if (text.length > 120 || lostBlobIn(value) !== undefined) return undefined;
  return `--set ${shellWord(`${pointer}=${text}`)}`;
}
