/**
 * A session against its expectations.
 *
 * Promise: pure; every failed expectation is reported, with its place in the file, what was expected and what is.
 */
import { cost, why } from '@chassis/analyze';
import type { SessionView } from '@chassis/journal';
import { circlesIn, filesAt } from '@chassis/runtime';
import type { Json } from '@chassis/types';
import { normalised } from './normalise.ts';
import type { Expectations, Spec } from './spec.ts';

/** How often the same call may give the same result in a run that is kept as a test. */
const repeats = 3;

export interface Failure {
  /** JSON Pointer into the expectations' file, or `replay`. */
  readonly path: string;
  readonly message: string;
  readonly expected: Json;
  readonly actual: Json;
}

export function checkSession(
  view: SessionView,
  spec: Pick<Spec, 'normalise' | 'expect'>,
): readonly Failure[] {
  const { expect } = spec;
  return [
    ...outcome(view, expect),
    ...tools(view, expect.tools ?? {}),
    ...files(view, expect.files ?? {}),
    ...final(view, spec),
    ...spent(view, expect.cost ?? {}),
    ...never(view, expect.never ?? []),
  ];
}

function* outcome(view: SessionView, expect: Expectations): Generator<Failure> {
  if (expect.outcome !== undefined && view.outcome !== expect.outcome)
    yield fail('/expect/outcome', `the run ended as ${view.outcome}`, expect.outcome, view.outcome);
}

function* tools(view: SessionView, expect: NonNullable<Expectations['tools']>): Generator<Failure> {
  const called = view.steps.filter((step) => step.kind === 'tool').map((step) => step.name);
  for (const [at, name] of (expect.includes ?? []).entries())
    if (!called.includes(name))
      yield fail(`/expect/tools/includes/${at}`, `${name} was not called`, name, unique(called));
  for (const [at, name] of (expect.forbids ?? []).entries()) {
    const step = view.steps.find((one) => one.kind === 'tool' && one.name === name);
    if (step !== undefined)
      yield fail(`/expect/tools/forbids/${at}`, `${name} was called in step ${step.number}`, null, name);
  }
  let from = 0;
  for (const [at, name] of (expect.order ?? []).entries()) {
    const found = called.indexOf(name, from);
    if (found < 0) {
      yield fail(
        `/expect/tools/order/${at}`,
        `${name} does not come in its place`,
        expect.order as Json,
        called,
      );
      break;
    }
    from = found + 1;
  }
  if (expect.max_calls !== undefined && called.length > expect.max_calls)
    yield fail('/expect/tools/max_calls', `${called.length} tool calls`, expect.max_calls, called.length);
}

function* files(view: SessionView, expect: NonNullable<Expectations['files']>): Generator<Failure> {
  const at = new Map(filesAt(view, view.steps.length).map((file) => [file.path, file.content]));
  for (const [path, content] of Object.entries(expect)) {
    const pointer = `/expect/files/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const now = at.get(path);
    if (now === undefined) yield fail(pointer, `no step changed ${path}`, content, null);
    else if (now !== content) yield fail(pointer, `${path} has another content`, content, now);
  }
}

function* final(
  view: SessionView,
  { expect, normalise }: Pick<Spec, 'normalise' | 'expect'>,
): Generator<Failure> {
  const { equals, contains = [] } = expect.final ?? {};
  const plain = (text: string) => normalised(text, normalise, view.header.workspace);
  const answer = view.turns.at(-1)?.answer ?? '';
  if (equals !== undefined && plain(answer) !== plain(equals))
    yield fail('/expect/final/equals', 'the answer is another', equals, answer);
  for (const [at, part] of contains.entries())
    if (!plain(answer).includes(plain(part)))
      yield fail(`/expect/final/contains/${at}`, 'the answer does not contain it', part, answer);
}

function* spent(view: SessionView, expect: NonNullable<Expectations['cost']>): Generator<Failure> {
  const { input, output, cost_usd } = cost(view).total;
  const over = (name: string, limit: number | undefined, used: number) =>
    limit !== undefined && used > limit
      ? [fail(`/expect/cost/${name}`, `${used} ${name} are more than ${limit}`, limit, used)]
      : [];
  yield* over('tokens', expect.tokens, input + output);
  yield* over('steps', expect.steps, view.steps.length);
  // What costs nobody knows how much is within no bound.
  if (expect.usd !== undefined && cost_usd === null)
    yield fail('/expect/cost/usd', 'what it cost is not known', expect.usd, null);
  else yield* over('usd', expect.usd, cost_usd ?? 0);
}

function* never(view: SessionView, expect: readonly string[]): Generator<Failure> {
  if (expect.length === 0) return;
  const { cause, others } = why(view);
  // `why` looks for a reason only where something failed; a run that ended well may have gone in circles all the same.
  const circles = circlesIn(view, repeats).map(({ rule, step, tool, times }) => ({
    rule: rule as string,
    step,
    text: `${tool} had given the same result ${times} times`,
  }));
  const fired = [...(cause === undefined ? [] : [cause]), ...others, ...circles];
  for (const [at, rule] of expect.entries()) {
    const suspicion = fired.find((one) => one.rule === rule);
    if (suspicion !== undefined)
      yield fail(
        `/expect/never/${at}`,
        `${rule} fired in step ${suspicion.step}: ${suspicion.text}`,
        null,
        rule,
      );
  }
}

function fail(path: string, message: string, expected: Json, actual: Json): Failure {
  return { path, message, expected, actual };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
