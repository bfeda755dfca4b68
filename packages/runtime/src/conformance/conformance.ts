/**
 * `testPlugin`: the conformance kit. Runs a real plugin the way the harness does, whatever it runs in, and checks what
 * the harness relies on.
 *
 * Promise: only tools that declare that they change nothing are called, and only with an input that their own
 * schema takes; the plugin runs in an empty project, and nothing of it is left afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toChassisError } from '@chassis/errors';
import type { JsonObject } from '@chassis/types';
import { checkPlugin } from '../plugin/check.ts';
import type { SecretSource } from '../project/config.ts';
import { openProject } from '../project/project.ts';
import type { LiveRegistry } from '../registry/options.ts';
import { startRegistry } from '../registry/registry.ts';
import { checkCalls, type Report } from './calls.ts';

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
  /** Folders of further plugins that it needs; they are started, not tested. */
  readonly beside?: readonly string[];
  /** Where secrets come from, as under `secrets:` in the configuration. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
}

export async function testPlugin(folder: string, options: TestPlugin = {}): Promise<Conformance> {
  const checks: ConformanceCheck[] = [];
  const report: Report = (name, problem) => {
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
  const groups = new Set<number>();
  const complaints: string[] = [];
  let registry: LiveRegistry | undefined;
  const remember = (): void => {
    const pid = registry?.diagnostics(name)?.pid;
    if (pid !== undefined && pid !== null) groups.add(pid);
  };
  try {
    const project = await openProject({
      cwd: home,
      home,
      env: options.env ?? process.env,
      pluginPaths: [folder, ...(options.beside ?? [])].map((path) => resolve(path)),
      overrides: [
        ...(options.config === undefined ? [] : [`plugins.${name}.config=${JSON.stringify(options.config)}`]),
        ...(options.secrets === undefined ? [] : [`secrets=${JSON.stringify(options.secrets)}`]),
      ],
    });
    registry = await startRegistry(project, {
      only: [name],
      log: (plugin, _level, message) => {
        if (plugin === name && message.startsWith('on_shutdown failed')) complaints.push(message);
      },
    });
    remember();
    if (!loaded(registry, name, report)) return done(name);
    await checkCalls(
      registry.tools().filter(({ plugin }) => plugin.name === name),
      options.inputs ?? {},
      report,
    );
    const noise = registry.diagnostics(name)?.noise ?? [];
    report('stdout carries messages only', noise.length > 0 ? `it printed: ${noise.join(' | ')}` : undefined);
    const [after] = registry.plugins().filter((plugin) => plugin.name === name);
    report('it is still well after all that', after?.unavailable?.cause.message);
    const again = await registry.reload(name).then(
      () => undefined,
      (error: unknown) => toChassisError(error).message,
    );
    report('a second one can be started beside it, and takes its place', again);
    remember();
  } finally {
    await registry?.close();
    if (registry !== undefined) {
      report('it shuts down in time', complaints.length > 0 ? complaints.join('\n') : undefined);
    }
    if (groups.size > 0) {
      const left = await aliveAfter(groups, GONE_MS);
      const problem = left.length > 0 ? `process group ${left.join(', ')} is still there` : undefined;
      report('nothing of it is left after shutdown', problem);
    }
    await rm(home, { recursive: true, force: true });
  }
  return done(name);
}

function loaded(registry: LiveRegistry, name: string, report: Report): boolean {
  const status = registry.plugins().find((plugin) => plugin.name === name);
  const problem = status?.unavailable;
  const told = problem && `${problem.phase}: ${problem.cause.message}`;
  if (!report('it loads and is ready in time', told)) return false;
  const own = registry.problems().filter(({ owner }) => owner === name);
  const dropped = own.map((record) => record.cause.message);
  report('it serves exactly what its manifest lists', dropped.length > 0 ? dropped.join('\n') : undefined);
  return true;
}

/** What has ended stands in the system's list until somebody has collected it: that may take a moment. */
const GONE_MS = 10_000;

async function aliveAfter(groups: ReadonlySet<number>, ms: number): Promise<number[]> {
  const until = performance.now() + ms;
  for (;;) {
    const left = [...groups].filter(groupAlive);
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(50);
  }
}

function groupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
