/** `chassis doctor`: is everything there that a run needs? Values of keys are never shown, only whether they are set. */
import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ExitCode, toChassisError } from '@chassis/errors';
import { type ReadyReport, runningOn } from '@chassis/runtime';
import type { Output } from '../output.ts';
import { mark } from '../present/mark.ts';
import { unavailableLines } from '../present/plugin.ts';
import type { Call, Ending, Globals } from '../reference/spec.ts';
import { openStore, storeFolder } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { bytes } from '../terminal/units.ts';
import { openWorkbench, type Workbench } from '../workbench.ts';

/** `note`: worth knowing, no reason to fail. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'problem' | 'note';
  readonly text: string;
  readonly fix?: string;
}

const keys = ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY'];

export async function doctor({ globals, out }: Call): Promise<Ending> {
  const findings: Finding[] = [];
  const add = (found: readonly Finding[]): void => {
    for (const finding of found) {
      findings.push(finding);
      const sign = { ok: mark('ok'), problem: mark('failed'), note: '·' }[finding.state];
      const [first = '', ...rest] = finding.text.split('\n');
      out.line(`${sign} ${finding.check.padEnd(9)} ${visible(first)}`);
      for (const line of rest) out.line(`            ${visible(line)}`);
      if (finding.fix !== undefined) out.line(`            to do: ${visible(finding.fix)}`);
      out.record({ type: 'finding', ...finding });
    }
  };
  add([node(), await python()]);
  add(await projectFindings(globals, out));
  add(await runningFindings(globals));
  add(keys.map(key));
  add(await storeFindings(globals));
  const problems = findings.filter(({ state }) => state === 'problem').length;
  out.line(problems === 0 ? 'all is well' : `${problems} problem${problems === 1 ? '' : 's'}`);
  return { exit: problems === 0 ? ExitCode.ok : ExitCode.failed, result: { problems } };
}

function node(): Finding {
  return { check: 'node', state: 'ok', text: `${process.versions.node} at ${process.execPath}` };
}

async function python(): Promise<Finding> {
  try {
    const { stdout, stderr } = await promisify(execFile)('python3', ['--version'], { timeout: 10_000 });
    const version = /(\d+)\.(\d+)\S*/.exec(stdout + stderr);
    const old = Number(version?.[1]) < 3 || (Number(version?.[1]) === 3 && Number(version?.[2]) < 9);
    if (version !== null && !old) return { check: 'python', state: 'ok', text: version[0] };
    return {
      check: 'python',
      state: 'problem',
      text: `python3 is ${version?.[0] ?? 'of an unknown version'}`,
      fix: 'install Python 3.9 or newer',
    };
  } catch {
    return {
      check: 'python',
      state: 'note',
      text: 'there is no python3',
      fix: 'install Python 3.9 or newer to use plugins in Python',
    };
  }
}

async function projectFindings(globals: Globals, out: Output): Promise<Finding[]> {
  let bench: Workbench;
  try {
    bench = await openWorkbench({ globals, out });
  } catch (error) {
    const { message, data } = toChassisError(error);
    const fix = (data as { fix?: unknown } | undefined)?.fix;
    return [
      { check: 'project', state: 'problem', text: message, ...(typeof fix === 'string' ? { fix } : {}) },
    ];
  }
  const { project, registry } = bench;
  const problems = registry.problems();
  const plugins = registry.plugins();
  const { failing } = registry.readiness();
  await bench.close();
  const active = plugins.filter(({ state }) => state === 'active').map(({ name }) => name);
  const model = project.config.model.use[0];
  return [
    { check: 'project', state: 'ok', text: project.file ?? `${project.root} (no chassis.yaml)` },
    model === undefined
      ? {
          check: 'model',
          state: 'note',
          text: 'none is configured',
          fix: 'set model in chassis.yaml, or give --model',
        }
      : { check: 'model', state: 'ok', text: project.config.model.use.join(', ') },
    // What a run of this project would ask for first.
    ...failing
      .filter(({ capability }) => /^(?:model|agent)\./.test(capability))
      .map((record): Finding => {
        const text = unavailableLines(record)[0] ?? '';
        return { check: 'demand', state: 'problem', text, fix: record.fix };
      }),
    { check: 'plugins', state: 'ok', text: `active: ${active.join(', ') || 'none'}` },
    ...problems.map((record): Finding => {
      const [text = '', ...rest] = unavailableLines(record);
      const lines = rest.filter((line) => !line.startsWith('  to do:')).map((line) => line.trim());
      return { check: 'plugin', state: 'problem', text: [text, ...lines].join('\n'), fix: record.fix };
    }),
  ];
}

/** What the processes that run say of themselves: a fresh look at the disk may see something else. */
async function runningFindings(globals: Globals): Promise<Finding[]> {
  const harnesses = await runningOn(storeFolder(globals));
  const found = await Promise.all(
    harnesses.map(async ({ pid, command, since, call }): Promise<Finding[]> => {
      const who = `process ${pid} (${command}, since ${new Date(since).toISOString()})`;
      try {
        const { ready, failing, degraded, loading } = (await call('plugin.health')) as ReadyReport;
        const records = [...failing, ...degraded].map(
          (record): Finding => ({
            check: 'running',
            state: 'problem',
            text: `in process ${pid} ${unavailableLines(record)[0] ?? ''}`,
            fix: record.fix,
          }),
        );
        const rest =
          loading.length === 0 ? '' : `, still loading ${loading.map(({ plugin }) => plugin).join(', ')}`;
        const state = ready ? (records.length === 0 ? 'ready' : 'ready, degraded') : 'not ready';
        return [
          { check: 'running', state: ready ? 'ok' : 'problem', text: `${who}: ${state}${rest}` },
          ...records,
        ];
      } catch (error) {
        return [{ check: 'running', state: 'problem', text: `${who}: ${toChassisError(error).message}` }];
      }
    }),
  );
  return found.flat();
}

function key(name: string): Finding {
  const set = (process.env[name] ?? '') !== '';
  return { check: 'key', state: set ? 'ok' : 'note', text: `${name} is ${set ? 'set' : 'not set'}` };
}

async function storeFindings(globals: Globals): Promise<Finding[]> {
  const folder = storeFolder(globals);
  const there = await stat(folder).catch(() => undefined);
  if (there === undefined)
    return [{ check: 'store', state: 'note', text: `${folder} does not exist yet: the first run makes it` }];
  try {
    await access(folder, constants.R_OK | constants.W_OK);
  } catch {
    return [
      {
        check: 'store',
        state: 'problem',
        text: `${folder} cannot be read and written`,
        fix: 'make it yours, or give --store',
      },
    ];
  }
  const findings: Finding[] = [];
  if (process.platform !== 'win32' && (there.mode & 0o077) !== 0)
    findings.push({
      check: 'store',
      state: 'problem',
      text: `${folder} can be read by others`,
      fix: `chmod 700 ${folder}`,
    });
  const store = openStore(globals);
  const sessions = await Array.fromAsync(store.list());
  await store.close();
  const size = sessions.reduce((sum, session) => sum + session.bytes, 0);
  findings.push({
    check: 'store',
    state: 'ok',
    text: `${folder}: ${sessions.length} sessions, ${bytes(size)}`,
  });
  for (const { id, problem } of sessions)
    if (problem !== undefined)
      findings.push({
        check: 'session',
        state: 'problem',
        text: `${id}: ${problem}`,
        fix: `chassis verify ${id}`,
      });
  return findings;
}
