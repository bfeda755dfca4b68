/**
 * A scenario and how it is run: the real session, gate and agent loop; only the model and the tools are functions.
 *
 * The model is a conversation told as a generator: it is given the results that the loop shows it, as text, and says what
 * it calls next. The same conversation runs twice, with and without the injected fault; nothing else differs.
 */

import agentPlugin from '../../packages/agent/src/index.ts';
import { ChassisError, type ErrorName } from '../../packages/errors/src/index.ts';
import type { SessionView } from '../../packages/journal/src/index.ts';
import { type FakeTool, type fakeRegistry, says } from '../../packages/runtime/test/support/fake-registry.ts';
import { openSession } from '../../packages/runtime/test/support/sessions.ts';
import type { Json, JsonObject, ModelRequest, ModelResponse } from '../../packages/types/src/index.ts';

export const causes = [
  'truncation',
  'wrong locale',
  'stale read',
  'wrong tool result',
  'fabricated value',
  'loop',
  'swallowed error',
  'retry with changed payload',
  'late duplicate',
  'missing permission',
  'wrong unit',
  'dropped page',
] as const;

export type CauseName = (typeof causes)[number];

/**
 * A call that the model makes. `fault` marks where the injected fault lies: in what the tool gave, in the call itself, or
 * in a step that the tool made and did not tell of (`inside`: the tool's step, and those of its own steps that failed).
 */
export interface Call {
  readonly tool: string;
  readonly input: JsonObject;
  readonly fault?: 'result' | 'call' | 'answer' | 'inside';
}

/** What a tool gives or is given: a scenario knows its own data. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes are as many as the scenarios
export type Loose = any;

/** A tool of a scenario. */
export interface ScenarioTool extends Omit<FakeTool, 'run'> {
  run(input: { readonly [name: string]: Loose }, ctx: Parameters<FakeTool['run']>[1]): unknown;
}

type Turn = { readonly calls: readonly Call[]; readonly text?: string; readonly cut?: boolean };
export type Talk<T = string> = Generator<Turn, T, readonly unknown[]>;

export interface Scenario {
  readonly cause: CauseName;
  readonly name: string;
  readonly tell: (world: World) => Told;
}

export interface Told {
  readonly task: string;
  readonly tools: { readonly [name: string]: ScenarioTool };
  readonly talk: () => Talk;
  /** Failed calls in a row that the agent puts up with. */
  readonly patience?: number;
  readonly limits?: { readonly steps: number };
}

/** What differs between two runs of a scenario. */
export class World {
  readonly random: () => number;
  readonly broken: boolean;
  /** Steps between the cause and what follows from it. */
  readonly distance: number;

  constructor(seed: number, distance: number, broken: boolean) {
    this.random = generator(seed);
    this.distance = distance;
    this.broken = broken;
  }

  int(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }

  word(): string {
    return this.pick(words);
  }

  money(from = 20, to = 900): number {
    return this.int(from, to) + this.int(1, 99) / 100;
  }

  /** Calls that have nothing to do with the fault, two steps each, until the distance is covered; some in pairs. */
  *wander(tool: string, input: (index: number) => JsonObject): Talk<void> {
    for (let done = 0, index = 0; done < this.distance; ) {
      const pair = this.distance - done > 3 && index % 3 === 2;
      const calls = pair ? [input(index), input(index + 1)] : [input(index)];
      yield { calls: calls.map((one) => ({ tool, input: one })) };
      index += calls.length;
      done += calls.length + 1;
    }
  }
}

const words =
  'amber birch cedar delta ember fjord grove harbor indigo juniper kestrel lagoon meadow nectar onyx pepper quartz rowan saffron timber umber violet willow yarrow zephyr'.split(
    ' ',
  );

/** One call and its result. */
export function* ask(tool: string, input: JsonObject, fault?: Call['fault']): Talk<Loose> {
  const [result] = yield { calls: [{ tool, input, ...(fault ? { fault } : {}) }] };
  return result;
}

/** Several calls in one answer. */
export function* askAll(calls: readonly Call[]): Talk<readonly Loose[]> {
  return yield { calls };
}

/** The same call until it is answered or the run is ended. */
export function* insist(tool: string, input: JsonObject): Talk<Loose> {
  for (;;) {
    const result = yield* ask(tool, input);
    if (!isError(result)) return result;
  }
}

export function isError(result: unknown): result is { error: string } {
  return typeof result === 'object' && result !== null && Object.hasOwn(result, failedCall);
}

const failedCall = Symbol('failed call');

/** What a tool throws. */
export function fail(message: string, code: ErrorName = 'InternalError', data?: Json): never {
  throw new ChassisError(code, message, data === undefined ? {} : { data });
}

/** Numbers in [0, 1) by a seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Ran {
  readonly view: SessionView;
  /** Steps that are the right answer: the one where the fault lies, for a fault of the model also the call it made. */
  readonly truth: ReadonlySet<number>;
}

const agent: NonNullable<Parameters<typeof fakeRegistry>[0]['agent']> = (input, ctx) =>
  agentPlugin.agents.default(input, ctx as never);

/** Runs a scenario once. @throws when it did not end as it must: failed when broken, well when not */
export async function run(scenario: Scenario, seed: number, distance: number, broken: boolean): Promise<Ran> {
  const told = scenario.tell(new World(seed, distance, broken));
  const talk = told.talk();
  const faults: { id: string; fault: NonNullable<Call['fault']> }[] = [];
  let asked = 0;
  const model = ({ messages }: ModelRequest): ModelResponse => {
    const said = messages.findLastIndex(({ role }) => role === 'assistant');
    const results = messages
      .slice(said + 1)
      .flatMap((message) => (message.role === 'tool' ? [read(message.content, message.is_error)] : []));
    const next = talk.next(results);
    if (next.done) return says(next.value);
    const calls = next.value.calls.map(({ tool, input, fault }): [string, string, JsonObject] => {
      const id = `call_${++asked}`;
      if (fault) faults.push({ id, fault });
      return [id, tool, input];
    });
    return says(next.value.text ?? '', calls, next.value.cut ? { finish_reason: 'length' } : {});
  };
  const { session } = await openSession({
    agent,
    agentSettings: { max_tool_errors: told.patience ?? 1 },
    system: 'You work through the task with the tools you have.',
    tools: told.tools,
    models: { p: model },
    settings: { limits: told.limits ?? { steps: 400 }, retry: { attempts: 1, base_ms: 1 } },
  });
  const { outcome } = await session.prompt(told.task);
  const { view } = session;
  await session.close();
  if (outcome !== (broken ? 'failed' : 'ok')) {
    const last = view.steps.at(-1);
    throw new Error(
      `${scenario.cause}, ${scenario.name}: ${outcome} (broken: ${broken}) ${JSON.stringify(last?.error ?? last?.output)}`,
    );
  }
  const truth = new Set<number>();
  for (const { id, fault } of faults) {
    const tool = view.steps.find(({ call_id }) => call_id === id)?.number;
    const wrote = view.steps.find(
      ({ kind, output }) => kind === 'model' && JSON.stringify(output ?? null).includes(`"${id}"`),
    )?.number;
    if (fault !== 'answer' && tool !== undefined) truth.add(tool);
    if ((fault === 'call' || fault === 'answer') && wrote !== undefined) truth.add(wrote);
    if (fault === 'inside')
      for (const { number, parent, error } of view.steps)
        if (parent === tool && error !== undefined) truth.add(number);
  }
  if (broken && truth.size === 0) throw new Error(`${scenario.name}: no fault was injected`);
  return { view, truth };
}

function read(content: string, failed: boolean | undefined): unknown {
  if (failed) return { [failedCall]: true, error: content };
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
