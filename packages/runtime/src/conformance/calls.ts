/** The part of the conformance kit that calls a plugin's tools: alone, many at once, unknown, and given up. */
import { tmpdir } from 'node:os';
import { ChassisError, toChassisError } from '@chassis/errors';
import { compileSchema, issueText } from '@chassis/schema';
import type { JsonObject, Result } from '@chassis/types';
import type { HostCalls, Invocation, ToolBinding } from '../capability.ts';

/** @param problem why it does not hold; undefined: it does. @returns whether it does */
export type Report = (name: string, problem: string | undefined) => boolean;

/** So many calls at once. */
const AT_ONCE = 8;
/** How long a call may go on after it was given up, milliseconds. */
const GIVEN_UP_MS = 10_000;

export async function checkCalls(
  tools: readonly ToolBinding[],
  inputs: Readonly<Record<string, JsonObject>>,
  report: Report,
): Promise<void> {
  const callable: Callable[] = [];
  for (const tool of tools) {
    const given = inputs[tool.definition.name];
    const input = given ?? {};
    const harmless = tool.definition.effects === 'none' || tool.definition.effects === 'read';
    if (given === undefined && !harmless) continue;
    if (compileSchema(tool.definition.input)(input).length > 0) continue;
    callable.push({ tool, input, given: given !== undefined });
  }
  for (const each of callable) await answers(each, report);
  const [first] = callable;
  if (first !== undefined) {
    await manyAtOnce(first, report);
    await givenUp(first, report);
  }
  const [any] = tools;
  if (any === undefined) return;
  await unknown(any, report);
  await cancelled(any, report);
}

interface Callable {
  readonly tool: ToolBinding;
  readonly input: JsonObject;
  /** The input comes from whoever runs the kit, so that a failure is one. */
  readonly given: boolean;
}

async function answers({ tool, input, given }: Callable, report: Report): Promise<void> {
  const { definition } = tool;
  const title = `${definition.name} answers a Result that keeps its output schema`;
  try {
    const result = await call(tool, input);
    if (result.code !== 0) report(title, given ? result.error?.message : undefined);
    else {
      const issues = definition.output === undefined ? [] : compileSchema(definition.output)(result.data);
      report(title, issues.length > 0 ? issues.map(issueText).join('\n') : undefined);
    }
  } catch (error) {
    report(title, toChassisError(error).message);
  }
}

async function manyAtOnce({ tool, input }: Callable, report: Report): Promise<void> {
  const settled = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => call(tool, input)));
  const broken = settled.filter((one) => one.status === 'rejected');
  const [first] = broken;
  const why = first === undefined ? '' : toChassisError(first.reason).message;
  const problem = first === undefined ? undefined : `${broken.length} of ${AT_ONCE} calls broke: ${why}`;
  report(`${AT_ONCE} calls at once are answered, each with its own Result`, problem);
}

/** Whether it stops or finishes is its own affair; that the call comes to an end, and that it goes on, is not. */
async function givenUp({ tool, input }: Callable, report: Report): Promise<void> {
  const stop = new AbortController();
  const running = call(tool, input, { signal: stop.signal }).then(
    () => undefined,
    (error: unknown) => `it broke: ${toChassisError(error).message}`,
  );
  setTimeout(() => stop.abort(), 5);
  let late: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    late = setTimeout(() => resolve(`it had no end ${GIVEN_UP_MS} ms after it was given up`), GIVEN_UP_MS);
  });
  const problem = await Promise.race([running, patience]);
  clearTimeout(late);
  report('a call that is given up on the way comes to an end', problem);
}

/** A tool that it does not have is a failed Result, and no reason to break. */
async function unknown(tool: ToolBinding, report: Report): Promise<void> {
  const problem = await call(tool, {}, { tool: 'chassis_no_such_tool' }).then(
    (result) => (result.code === 0 ? 'it answered a call of a tool that it does not have' : undefined),
    (error: unknown) => `it broke: ${toChassisError(error).message}`,
  );
  report('a call of an unknown tool is refused', problem);
}

/** A call that was cancelled before it began must leave the plugin usable. */
async function cancelled(tool: ToolBinding, report: Report): Promise<void> {
  const options = { tool: 'chassis_no_such_tool', signal: AbortSignal.abort() };
  const problem = await call(tool, {}, options).then(
    (result) => (result.code === 0 ? 'it answered a cancelled call' : undefined),
    (error: unknown) => toChassisError(error).message,
  );
  report('a cancelled call ends at once', problem);
}

async function call(
  tool: ToolBinding,
  input: JsonObject,
  options: { readonly tool?: string; readonly signal?: AbortSignal } = {},
): Promise<Result> {
  const { timeout_ms, name } = tool.definition;
  const signal = AbortSignal.any([
    AbortSignal.timeout(timeout_ms),
    ...(options.signal ? [options.signal] : []),
  ]);
  const trace_id = crypto.randomUUID();
  const invocation: Invocation = {
    payload: { tool: options.tool ?? name, input },
    ctx: {
      session: 'conformance',
      step: 1,
      trace_id,
      attempt: 1,
      idempotency_key: trace_id,
      deadline: Date.now() + timeout_ms,
      workspace: tmpdir(),
    },
    signal,
    stop: signal,
    host: deskOfNobody,
  };
  return tool.invoke(invocation);
}

/** There is no session: values are given, everything else is refused. */
const deskOfNobody: HostCalls = {
  progress: () => {},
  log: () => {},
  effect: () => {},
  secret: async (name) => {
    throw new ChassisError('Unauthorized', `the conformance kit has no secret ${name}`);
  },
  call: async (method) => {
    throw new ChassisError('MethodNotFound', `the conformance kit does not serve ${method}`);
  },
  context: async () => ({ history: [], tools: [] }),
  value: async (name) =>
    name === 'now' ? Date.now() : name === 'random' ? Math.random() : crypto.randomUUID(),
};
