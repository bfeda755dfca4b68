/** A real project in a temporary folder: plugins from disk, the provider over HTTP, sessions in files. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Event, fileStore, Secrets } from '@chassis/journal';
import {
  type ForkRequest,
  openProject,
  Session,
  type SessionSettings,
  type Surroundings,
  startRegistry,
} from '@chassis/runtime';

const repository = join(import.meta.dirname, '../../../..');
const firstParty = ['packages/agent', 'plugins/openai-compatible', 'plugins/scripted'].map((folder) =>
  join(repository, folder),
);

/** Tools that write down that they ran, one line each, into `ran.txt` of the workspace. */
const notebook = {
  'plugins/notebook/plugin.yaml': `name: notebook
version: 1.0.0
description: Notes for tests.
chassis: ">=0.1 <1"
kind: tool
runtime: inline
module: ./index.mjs
tools:
  - { name: put_note, description: d, effects: write, approval: auto, input: { type: object, properties: { path: { type: string }, text: { type: string } }, required: [path, text] } }
  - { name: read_note, description: d, effects: read, input: { type: object, properties: { path: { type: string } }, required: [path] } }
  - { name: lookup, description: d, effects: read, input: { type: object, properties: { q: { type: string } }, required: [q] } }
  - { name: tide_at, description: d, effects: read, input: { type: object, properties: { port: { type: string } }, required: [port] } }
  - { name: shell, description: d, effects: external, approval: auto, input: { type: object, properties: { cmd: { type: string } } } }
  - { name: append_line, description: d, effects: write, approval: auto, input: { type: object } }
`,
  'plugins/notebook/index.mjs': `import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePlugin } from '@chassis/sdk';
const ran = (name, answer) => (input, ctx) => {
  appendFileSync(join(ctx.workspace, 'ran.txt'), name + ' ' + JSON.stringify(input) + '\\n');
  return answer;
};
export default definePlugin({
  tools: {
    put_note: ran('put_note', 'noted'), read_note: ran('read_note', 'a note'), lookup: ran('lookup', 'found'),
    tide_at: ran('tide_at', '11:42'), shell: ran('shell', 'done'), append_line: ran('append_line', 'appended'),
  },
});
`,
};

export interface LiveProject extends AsyncDisposable {
  readonly root: string;
  /** Runs a piece of work as a process of its own would: everything is opened and closed again. */
  process<T>(work: (open: Opened) => Promise<T>): Promise<T>;
  /** Lines of `ran.txt`. */
  ran(): string[];
}

export interface Opened {
  readonly around: Surroundings;
  readonly events: Event[];
  create(model: string, fallbacks?: readonly string[]): Promise<Session>;
  open(id: string): Promise<Session>;
  fork(request: ForkRequest): Promise<Session>;
}

/** @param config text of `chassis.yaml` */
export function liveProject(config: string, files: { readonly [path: string]: string } = {}): LiveProject {
  const root = mkdtempSync(join(tmpdir(), 'chassis-live-'));
  for (const [path, text] of Object.entries({ 'chassis.yaml': config, ...notebook, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return {
    root,
    process: (work) => inProcess(root, work),
    ran() {
      try {
        return readFileSync(join(root, 'ran.txt'), 'utf8').trim().split('\n');
      } catch {
        return [];
      }
    },
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true });
    },
  };
}

async function inProcess<T>(root: string, work: (open: Opened) => Promise<T>): Promise<T> {
  const env = { PATH: process.env.PATH ?? '', TEST_KEY: 'sk-test-0123456789abcdef' };
  const project = await openProject({
    cwd: root,
    env,
    home: join(root, 'home'),
    firstParty,
    overrides: [],
    pluginPaths: [],
  });
  const secrets = new Secrets();
  const registry = await startRegistry(project, { onSecret: (name, value) => void secrets.add(name, value) });
  const store = fileStore({ root: join(root, '.chassis'), secrets });
  const events: Event[] = [];
  const around: Surroundings = {
    store,
    registry,
    secrets,
    secret: () => Promise.reject(new Error('no secrets here')),
    onEvent: (event) => void events.push(event),
  };
  const { agent, limits } = project.config;
  const settings: SessionSettings = {
    agent: {
      settings: agent.settings ?? {},
      ...(agent.system === undefined ? {} : { system: agent.system }),
    },
    limits,
    retry: { attempts: 3, base_ms: 1 },
    approval: {},
    tools: {},
    model_timeout_ms: 60_000,
  };
  try {
    return await work({
      around,
      events,
      create: (model, fallbacks = []) =>
        Session.create(around, {
          title: 'live',
          workspace: root,
          project: root,
          chassis: '0.1.0',
          agent: 'default',
          model: { name: model, fallbacks, params: {} },
          settings,
        }),
      open: (id) => Session.open(around, id),
      fork: (request) => Session.fork(around, request),
    });
  } finally {
    await registry.close();
    await store.close();
  }
}
