/**
 * From what a person typed to a session and a step of it.
 *
 * Promise: whatever an address names is there when this returns, or the error says what there is instead. A bundle is read
 * into memory; nothing is written.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { toChassisError } from '@chassis/errors';
import {
  describeProblem,
  isLoss,
  type Reader,
  type SessionSummary,
  type SessionView,
  type Store,
} from '@chassis/journal';
import { type Address, formatAddress, isBundlePath, parseAddress, type StepName } from './address.ts';
import { readBundle } from './bundle.ts';
import { usage } from './failure.ts';
import type { Globals } from './reference/spec.ts';
import { existingStore } from './store.ts';

export interface Opened {
  readonly store: Store;
  readonly reader: Reader;
  /** The session as a person can type it again: its id, or the path of the bundle. */
  readonly name: string;
  readonly address: Address;
  /** What a listing says about it: whether it runs, and its size. */
  summary(): Promise<SessionSummary | undefined>;
  close(): Promise<void>;
}

/** @throws InvalidParams for a session that is not there */
export async function openAddress(text: string, globals: Pick<Globals, 'store' | 'cwd'>): Promise<Opened> {
  const address = addressOf(text, globals.cwd);
  if (isBundlePath(address.session)) {
    const { store, id } = await readBundle(resolve(globals.cwd, address.session));
    return opened(store, id, formatAddress({ session: address.session }), address);
  }
  const store = existingStore(globals);
  const id = await found(address.session, store);
  return opened(store, id, id, address);
}

async function opened(store: Store, id: string, name: string, address: Address): Promise<Opened> {
  return {
    store,
    reader: await store.reader(id),
    name,
    address,
    async summary() {
      for await (const summary of store.list()) if (summary.id === id) return summary;
      return undefined;
    },
    close: () => store.close(),
  };
}

/** A path may hold signs that mean something in an address: one that exists as it was typed is taken as it is. */
export function addressOf(text: string, cwd: string): Address {
  if (isBundlePath(text) && existsSync(resolve(cwd, text))) return { session: text };
  return parseAddress(text);
}

/** @throws InvalidParams for a session that is not there, with where to look for one */
async function found(session: string, store: Store): Promise<string> {
  try {
    return await store.find(session);
  } catch (thrown) {
    const { message, data } = toChassisError(thrown);
    if (message !== `there is no session ${session}`) throw thrown;
    throw usage(`${message}; chassis ls lists them`, data);
  }
}

/** The id of a session of the store; for commands that cannot work on a bundle. */
export async function sessionOf(
  text: string,
  store: Store,
): Promise<{ readonly id: string; readonly address: Address }> {
  const address = parseAddress(text);
  if (isBundlePath(address.session))
    throw usage(
      `${address.session} is a bundle: take it in with chassis import ${address.session}, then use its id`,
    );
  return { id: await found(address.session, store), address };
}

/**
 * The number of a step that was named.
 * @param name a number, `fail` (where the run failed), `cause` (where that began), `end` (the last step)
 */
export async function stepNumber(view: SessionView, name: StepName): Promise<number> {
  const { id } = view.header;
  const { length } = view.steps;
  if (length === 0) {
    const [damage] = view.problems.filter(isLoss);
    throw usage(
      damage === undefined
        ? `session ${id} has no steps yet`
        : `no step of session ${id} is on record: the record is damaged: ${describeProblem(damage)} (chassis verify ${id})`,
    );
  }
  switch (name) {
    case 'end':
      return length;
    case 'fail': {
      const step = failedStep(view);
      if (step === undefined) throw usage(`no step of session ${id} failed`);
      return step;
    }
    case 'cause':
      // The analysis is loaded only for those who ask for it.
      return (await import('./cause.ts')).causeStep(view);
    default:
      if (view.step(name) !== undefined) return name;
      throw usage(
        `session ${id} has no step ${name}: ${length === 1 ? 'it has step 1 only' : `it has steps 1 to ${length}`}`,
      );
  }
}

/** The step whose failure ended the last failed turn, else the last that ended badly. */
function failedStep(view: SessionView): number | undefined {
  const turn = view.turns.findLast((one) => one.failed_step !== undefined);
  if (turn?.failed_step !== undefined) return turn.failed_step;
  return view.steps.findLast(
    ({ status }) => status === 'error' || status === 'timeout' || status === 'denied' || status === 'unknown',
  )?.number;
}
