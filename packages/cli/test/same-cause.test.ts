/** Whatever is wrong with a plugin, every place that tells of it tells the same root cause and what to do. */
import { type ErrorRecord, exitCodeOf } from '@chassis/errors';
import { openProject, startRegistry, type Unavailable } from '@chassis/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstPartyFolders } from '../src/first-party.ts';
import { refusalOf } from '../src/refusal.ts';
import { chassis, environment, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

interface Fault {
  readonly kind: string;
  /** Lines of the manifest beside name, version, description and tools. */
  readonly manifest?: string;
  readonly code?: string;
  readonly phase: Unavailable['phase'];
  /** The root cause. */
  readonly says: RegExp;
  readonly exit: number;
}

const inline = 'runtime: inline\nmodule: ./index.mjs\n';
const child = 'runtime: process\ncommand: [node, index.mjs]\n';
const wire = (ready: string) => `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'plugin.ready') { ${ready} }
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: null }));
}`;

/** Their names are those of plugins and, with `_tool`, of tools. */
const faults: Record<string, Fault> = {
  manifest: {
    kind: 'a broken manifest',
    manifest: `${inline}nonsense: 1\n`,
    phase: 'manifest',
    says: /unknown key "nonsense"/,
    exit: 2,
  },
  file: {
    kind: 'a module that is not there',
    phase: 'spawn',
    says: /plugin\.yaml:\d+:\d+: there is no file \.\/index\.mjs/,
    exit: 3,
  },
  program: {
    kind: 'a program that is not there',
    manifest: 'runtime: process\ncommand: [no-such-program-x]\n',
    phase: 'spawn',
    says: /no-such-program-x/,
    exit: 3,
  },
  import: {
    kind: 'a module that throws',
    code: `throw new Error('no licence file');`,
    phase: 'spawn',
    says: /no licence file/,
    exit: 3,
  },
  load: {
    kind: 'on_load throws',
    code: `export default { on_load() { throw new Error('database file is locked'); }, tools: { load_tool: () => 1 } };`,
    phase: 'on_load',
    says: /database file is locked/,
    exit: 3,
  },
  hang: {
    kind: 'on_load hangs',
    manifest: `${inline}deadlines: { on_load_ms: 3000 }\n`,
    code: `export default { on_load: () => new Promise(() => {}), tools: { hang_tool: () => 1 } };`,
    phase: 'on_load',
    says: /on_load did not finish within 3000 ms/,
    exit: 3,
  },
  ready: {
    kind: 'on_ready says no',
    code: `export default { on_ready: () => ({ ready: false, reason: 'warming up' }), tools: { ready_tool: () => 1 } };`,
    phase: 'on_ready',
    says: /^warming up$/,
    exit: 3,
  },
  dies: {
    kind: 'a process that dies after it was loaded',
    manifest: child,
    code: wire(`console.error('fatal: cannot open store'); process.exit(3);`),
    phase: 'runtime',
    says: /exited with code 3: fatal: cannot open store/,
    exit: 3,
  },
  schema: {
    kind: 'a tool with a bad schema',
    code: 'export default { tools: { schema_tool: () => 1 } };',
    phase: 'on_load',
    says: /the output schema of schema_tool is broken/,
    exit: 2,
  },
  needs: {
    kind: 'a missing dependency',
    manifest: `${inline}depends_on: [{ name: not-installed }]\n`,
    phase: 'resolve',
    says: /needs needs not-installed \(.*plugin\.yaml:\d+:\d+\), which is not installed/,
    exit: 3,
  },
  version: {
    kind: 'a version that does not fit',
    manifest: `${inline}depends_on: [{ name: gate, version: ^9 }]\n`,
    phase: 'resolve',
    says: /version needs gate \^9 \(.*\), but gate is 1\.0\.0/,
    exit: 3,
  },
  framework: {
    kind: 'another framework',
    manifest: `${inline}chassis: ">=9"\n`,
    phase: 'resolve',
    says: /framework works with chassis >=9/,
    exit: 3,
  },
  env: {
    kind: 'a variable that is not set',
    manifest: `${inline}config: { type: object }\n`,
    phase: 'config',
    says: /chassis\.yaml:\d+:\d+: the variable NOT_SET_X is not set/,
    exit: 2,
  },
  secret: {
    kind: 'a secret that is not set',
    manifest: `${inline}config: { type: object }\n`,
    phase: 'config',
    says: /chassis\.yaml:\d+:\d+: the secret NOT_SET_Y is not set/,
    exit: 2,
  },
  config: {
    kind: 'a wrong configuration',
    manifest: `${inline}config: { type: object, properties: { url: { type: string } } }\n`,
    phase: 'config',
    says: /chassis\.yaml:\d+:\d+: expected a string, found a number \(5\)/,
    exit: 2,
  },
};

const config = `  env: { config: { url: "\${env:NOT_SET_X}" } }
  secret: { config: { url: "\${secret:NOT_SET_Y}" } }
  config: { config: { url: 5 } }
`;

let folder: Project;
let listed: Record<string, unknown>;
let problems: readonly Unavailable[];
let findings: readonly { check: string; state: string; text: string; fix?: string }[];
let ready: readonly Unavailable[];
let steps: readonly { name: string; error: ErrorRecord | undefined }[];
let logged: string;

/** Three at a time, with one that works in between: an agent gives up after five failures in a row. */
const names = [...Object.keys(faults).map((name) => `${name}_tool`), 'twice'];
const turns = names
  .map((_, at) => names.slice(at, at + 3))
  .filter((_, at) => at % 3 === 0)
  .map((three) => {
    const calls = [...three, 'echo'].map((name) => `{ name: ${name}, arguments: {} }`);
    return `  - { call: [${calls.join(', ')}] }\n`;
  });

/** What each tool that the agent called was answered with, from the events. */
function failedTools(events: readonly Record<string, unknown>[]): typeof steps {
  const of = (type: string) =>
    events
      .filter((event) => event.type === type)
      .map(({ step, data }) => ({ step, ...(data as { name: string; error: ErrorRecord | undefined }) }));
  const names = new Map(of('step.started').map(({ step, name }) => [step, name]));
  return of('step.finished').map(({ step, error }) => ({ name: names.get(step) ?? '', error }));
}

beforeAll(async () => {
  folder = project(`${turns.join('')}${says('Done.')}`, config);
  const tool = (name: string, more = '') =>
    `tools: [{ name: ${name}, description: x, effects: none${more} }]\n`;
  for (const [name, { manifest = inline, code }] of Object.entries(faults)) {
    const bad = name === 'schema' ? ', output: { type: objcet }' : '';
    folder.write(
      `plugins/${name}/plugin.yaml`,
      `name: ${name}\nversion: 1.0.0\ndescription: x\n${manifest}${tool(`${name}_tool`, bad)}`,
    );
    if (name !== 'file')
      folder.write(
        `plugins/${name}/index.mjs`,
        code ?? `export default { tools: { ${name}_tool: () => 1 } };`,
      );
  }
  for (const name of ['one', 'two']) {
    folder.write(
      `plugins/${name}/plugin.yaml`,
      `name: ${name}\nversion: 1.0.0\ndescription: x\n${inline}${tool('twice')}`,
    );
    folder.write(`plugins/${name}/index.mjs`, 'export default { tools: { twice: () => 1 } };');
  }
  const { path: cwd } = folder;
  const ran = await chassis(['run', '--trust', '--json', 'Go'], { cwd });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  logged = (await chassis(['log', '@last', '--json'], { cwd })).stdout;
  steps = failedTools(records(logged));
  listed = records((await chassis(['plugin', 'ls', '--json'], { cwd })).stdout).at(-1) ?? {};
  problems = listed.problems as Unavailable[];
  const asked = await chassis(['doctor', '--json'], { cwd });
  expect(asked.code).toBe(1);
  findings = records(asked.stdout).filter(({ type }) => type === 'finding') as never;
  const opened = await openProject({
    cwd,
    home: `${cwd}/.home`,
    env: environment(cwd),
    firstParty: firstPartyFolders(),
  });
  const registry = await startRegistry(opened);
  ready = registry.readiness().degraded;
  await registry.close();
}, 300_000);
afterAll(() => folder[Symbol.dispose]());

describe.each(Object.entries(faults))('%s', (name, { kind, phase, says: cause, exit }) => {
  it(`${kind}: plugin ls, doctor, readiness, the agent, the log and the exit code agree`, () => {
    const capability = name === 'schema' ? 'tool.schema_tool' : `plugin.${name}`;
    const record = problems.find((one) => one.capability === capability);
    expect(record, `plugin ls has no ${capability}`).toMatchObject({ owner: name, phase });
    const { message } = record?.cause ?? { message: '' };
    expect(message).toMatch(cause);

    const told = findings.filter(({ text }) => text.includes(message.split('\n')[0] ?? ''));
    expect(told).toContainEqual(expect.objectContaining({ state: 'problem', fix: record?.fix }));

    const degraded = ready.find((one) => one.capability === capability);
    expect(degraded).toMatchObject({ phase, cause: { message, code: record?.cause.code } });
    // One at rest also says how its rest ends.
    expect(record?.fix).toContain(degraded?.fix);

    const step = steps.find((one) => one.name === `${name}_tool`);
    expect(step?.error?.message).toContain(message.split('\n')[0]);
    expect(logged).toContain(JSON.stringify(message).slice(1, -1));

    expect(record && exitCodeOf(refusalOf(record).code)).toBe(exit);
  });
});

it('two tools of one name: whoever calls it is told by whom it is offered, and how to call each', () => {
  const step = steps.find(({ name }) => name === 'twice');
  expect(step?.error?.message).toContain('the tool "twice" is offered by one and two');
  expect(logged).toContain('one__twice');
});

it('a required plugin ends the command with the exit code of its cause, and the cause', async () => {
  for (const name of ['load', 'config'] as const) {
    const ran = await chassis(['run', 'Go', '--trust', '--config', `plugins.${name}.criticality=required`], {
      cwd: folder.path,
    });
    expect(ran).toMatchObject({ code: faults[name]?.exit, stdout: '' });
    expect(ran.stderr).toMatch(faults[name]?.says ?? /never/m);
  }
}, 300_000);
