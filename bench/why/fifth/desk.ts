/**
 * What the scenarios of the fifth set share: how a run's system wraps and refuses, and the work beside the point.
 *
 * Each scenario has its own trade, tools and texts, and says in one sentence what in the record shows its cause.
 */
import {
  ask,
  askAll,
  type CauseName,
  fail,
  isError,
  type Loose,
  type Scenario,
  type ScenarioTool,
  type Talk,
  type Told,
  type World,
} from '../world.ts';
import { sideCalls, sideTools } from './beside.ts';

/** What a scenario is given of its run. */
export interface Desk {
  readonly world: World;
  readonly broken: boolean;
  /** A result as the system of this run wraps it. */
  readonly give: (payload: Loose) => unknown;
  /** Refuses a value as the system of this run does: with the value, with the member's name only, or with neither. */
  readonly refuse: (what: string, value: unknown) => never;
  /** Work beside the point, until the distance is covered. */
  readonly beside: () => Talk<void>;
}

export interface Shape {
  readonly tools: { readonly [name: string]: ScenarioTool };
  readonly talk: () => Talk<void>;
  /** Steps after which a run without end is stopped, counted from the end of the work beside the point. */
  readonly endless?: number;
  readonly patience?: number;
}

/** A scenario with the sentence that says what in the record shows the cause. */
export interface Evident extends Scenario {
  readonly evidence: string;
}

export const define = (
  cause: CauseName,
  name: string,
  task: string,
  evidence: string,
  make: (desk: Desk) => Shape,
): Evident => ({
  cause,
  name,
  evidence,
  tell: (world): Told => {
    const [give, refuse] = [wrapped(world), refusing(world)];
    const [base, early, usual] = [world.int(1, 900), world.int(0, 3), world.int(2, 3)];
    const wordy = world.int(0, 2);
    const beside = (steps: number, from: number): Talk<void> => sideWork(steps, from);
    const { broken, distance } = world;
    const {
      tools,
      talk,
      endless,
      patience = usual,
    } = make({
      world,
      broken,
      give,
      refuse,
      beside: () => beside(distance, base + 10),
    });
    return {
      task,
      tools: { ...sideTools(), ...tools },
      patience,
      ...(endless !== undefined && broken ? { limits: { steps: distance + 20 + endless } } : {}),
      *talk() {
        yield* told(beside(early * 2, base), wordy);
        yield* told(talk(), wordy);
        return world.pick(['Done.', 'Erledigt.', '完成。', 'All finished, nothing is open.']);
      },
    };
  },
});

/** The same turns, with what a model says beside its calls: nothing, a little, or what it is about to do. */
function* told(talk: Talk<void>, wordy: number): Talk<void> {
  let results: readonly unknown[] = [];
  for (let n = 0; ; n++) {
    const next = talk.next(results);
    if (next.done) return;
    const names = next.value.calls.map(({ tool }) => tool.replaceAll('_', ' ')).join(' and ');
    const text = wordy === 0 ? '' : wordy === 1 ? (n % 4 === 0 ? 'One moment.' : '') : `Next: ${names}.`;
    results = yield { ...next.value, text };
  }
}

function wrapped(world: World): Desk['give'] {
  return world.pick<Desk['give']>([
    (payload) => payload,
    (payload) => payload,
    (payload) => ({ status: 200, headers: { 'content-type': 'application/json' }, body: payload }),
    (payload) => JSON.stringify(payload, null, 2),
    (payload) => ({ jsonrpc: '2.0', id: 7, result: { isError: false, structuredContent: payload } }),
    (payload) => ({ success: true, data: payload, errors: [], took_ms: 31 }),
    (payload) => ({ value: [payload], '@odata.count': 1 }),
  ]);
}

function refusing(world: World): Desk['refuse'] {
  const style = world.int(0, 4);
  const said = world.pick([
    'Unprocessable Entity',
    'Vorgang nicht möglich (F-204)',
    'ERR_PRECONDITION',
    'the request could not be completed',
  ]);
  return (what, value) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    if (style === 0) return fail(said);
    if (style === 1) return fail(`${what} is not right`, 'InvalidParams');
    if (style === 2)
      return fail(`422: {"detail":[{"loc":["body","${what}"],"input":${JSON.stringify(value)}}]}`);
    if (style === 3) return fail(`no match for ${shown}`, 'Conflict');
    return fail(`${what}: cannot take ${shown}`);
  };
}

/** Calls beside the point: alone, in parallel, with steps of their own, some failing at first and asked again. */
function* sideWork(steps: number, from: number): Talk<void> {
  for (let done = 0, n = from; done < steps; n++) {
    const calls = sideCalls(n);
    if (calls.length > 1) {
      yield* askAll(calls);
      done += 1 + calls.length;
      continue;
    }
    const [call] = calls;
    if (!call) return;
    const result: Loose = yield* ask(call.tool, call.input);
    done += call.tool === 'daily_digest' ? 4 : 2;
    if (isError(result)) {
      yield* ask(call.tool, call.input);
      done += 2;
    }
  }
}

/** Another one than `not`, made in the same way: what a model writes that does not know. */
export function other<T>(make: () => T, not: T): T {
  for (;;) {
    const one = make();
    if (one !== not) return one;
  }
}

export const reads = (run: ScenarioTool['run'], more: Partial<ScenarioTool> = {}): ScenarioTool => ({
  effects: 'read',
  run,
  ...more,
});

export const writes = (run: ScenarioTool['run'], more: Partial<ScenarioTool> = {}): ScenarioTool => ({
  effects: 'write',
  run,
  ...more,
});

export const cents = (value: number): number => Math.round(value * 100) / 100;
