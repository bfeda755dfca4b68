/**
 * `testPlugin`: the conformance kit. Runs a real plugin the way the harness does and checks what the harness
 * relies on.
 *
 * Promise: only tools that declare that they change nothing are called, and only with an input that their own
 * schema takes; the plugin runs in an empty project, and nothing of it is left afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ChassisError, toChassisError } from '@chassis/errors';
import { compileSchema, issueText } from '@chassis/schema';
import type { JsonObject, Result } from '@chassis/types';
import type { HostCalls, Invocation, ToolBinding } from '../capability.ts';
import { checkPlugin } from '../plugin/check.ts';
import { openProject } from '../project/project.ts';
import type { LiveRegistry } from '../registry/options.ts';
import { startRegistry } from '../registry/registry.ts';

export interface ConformanceCheck {
  /** What must hold, as a sentence. */
  readonly name: string;
  readonly ok: boolean;
  /** Why not, or what was left out. */
  readonly detail?: string;
}

export interface Conformance {
  readonly folder: string;
  readonly plugin: string | null;
  readonly ok: boolean;
  readonly checks: readonly ConformanceCheck[];
}

export interface TestPlugin {
  /** The plugin's configuration block. */
  readonly config?: JsonObject;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Inputs to call tools with, by tool name; these are called whatever their effects. */
  readonly inputs?: Readonly<Record<string, JsonObject>>;
}

export async function testPlugin(folder: string, options: TestPlugin = {}): Promise<Conformance> {
  const checks: ConformanceCheck[] = [];
  const report = (name: string, problem: string | undefined): boolean => {
    checks.push({ name, ok: problem === undefined, ...(problem === undefined ? {} : { detail: problem }) });
    return problem === undefined;
  };
  const done = (plugin: string | null): Conformance => ({
    folder,
    plugin,
    ok: checks.every((check) => check.ok),
    checks,
  });

  const { name, findings } = await checkPlugin(folder, options.env);
  const errors = findings.filter((finding) => finding.level === 'error').map((finding) => finding.message);
  report('the manifest and what it names are in order', errors.length > 0 ? errors.join('\n') : undefined);
  if (name === null) return done(null);

  const home = await mkdtemp(join(tmpdir(), 'chassis-conformance-'));
  let registry: LiveRegistry | undefined;
  try {
    const project = await openProject({
      cwd: home,
      home,
      env: options.env ?? process.env,
      pluginPaths: [resolve(folder)],
      overrides:
        options.config === undefined ? [] : [`plugins.${name}.config=${JSON.stringify(options.config)}`],
    });
    registry = await startRegistry(project);
    const status = registry.plugins().find((plugin) => plugin.name === name);
    const problem = status?.unavailable;
    if (!report('it loads and is ready in time', problem && `${problem.phase}: ${problem.cause.message}`)) {
      return done(name);
    }
    const dropped = registry.problems().map((record) => record.cause.message);
    report('it serves exactly what its manifest lists', dropped.length > 0 ? dropped.join('\n') : undefined);
    for (const tool of registry.tools()) await testTool(tool, options.inputs?.[tool.definition.name], report);
    await testUnknown(registry, report);
    await testCancelled(registry, report);
    const noise = registry.diagnostics(name)?.noise ?? [];
    report('stdout carries messages only', noise.length > 0 ? `it printed: ${noise.join(' | ')}` : undefined);
    const [after] = registry.plugins().filter((plugin) => plugin.name === name);
    report('it is still well after all that', after?.unavailable?.cause.message);
  } finally {
    const pid = registry?.diagnostics(name)?.pid;
    await registry?.close();
    if (pid !== undefined && pid !== null) {
      report(
        'nothing of it is left after shutdown',
        groupAlive(pid) ? `group ${pid} is still there` : undefined,
      );
    }
    await rm(home, { recursive: true, force: true });
  }
  return done(name);
}

type Report = (name: string, problem: string | undefined) => boolean;

async function testTool(tool: ToolBinding, given: JsonObject | undefined, report: Report): Promise<void> {
  const { definition } = tool;
  const harmless = definition.effects === 'none' || definition.effects === 'read';
  const input = given ?? {};
  if (compileSchema(definition.input)(input).length > 0 || (given === undefined && !harmless)) return;
  const title = `${definition.name} answers a Result that keeps its output schema`;
  try {
    const result = await call(tool, input);
    if (result.code !== 0) report(title, given === undefined ? undefined : result.error?.message);
    else {
      const issues = definition.output === undefined ? [] : compileSchema(definition.output)(result.data);
      report(title, issues.length > 0 ? issues.map(issueText).join('\n') : undefined);
    }
  } catch (error) {
    report(title, toChassisError(error).message);
  }
}

/** A tool that it does not have is a failed Result, and no reason to break. */
async function testUnknown(registry: LiveRegistry, report: Report): Promise<void> {
  const [tool] = registry.tools();
  if (tool === undefined) return;
  const problem = await call(tool, {}, { tool: 'chassis_no_such_tool' }).then(
    (result) => (result.code === 0 ? 'it answered a call of a tool that it does not have' : undefined),
    (error: unknown) => `it broke: ${toChassisError(error).message}`,
  );
  report('a call of an unknown tool is refused', problem);
}

/** A call that was cancelled before it began must leave the plugin usable. */
async function testCancelled(registry: LiveRegistry, report: Report): Promise<void> {
  const [tool] = registry.tools();
  if (tool === undefined) return;
  const problem = await call(tool, {}, { tool: 'chassis_no_such_tool', signal: AbortSignal.abort() }).then(
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

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
