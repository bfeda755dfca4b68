/** For tests: projects and plugins in a temporary folder, and invocations without a gate. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileChange } from '@chassis/sdk';
import type { Effect, Json, JsonObject } from '@chassis/types';
import type { HostCalls, Invocation } from '../capability.ts';
import { type OpenProject, openProject, type Project } from '../project/project.ts';

export interface ProjectFolder {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): void;
  /** Opened with an empty home and only the given environment. */
  open(options?: Partial<OpenProject>): Promise<Project>;
  [Symbol.dispose](): void;
}

export function projectFolder(files: Readonly<Record<string, string>>): ProjectFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'chassis-test-')));
  const write: ProjectFolder['write'] = (more) => {
    for (const [path, text] of Object.entries(more)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  write({ 'chassis.yaml': '', ...files });
  return {
    root,
    write,
    open: (options) =>
      openProject({ cwd: root, home: join(root, 'home'), env: { PATH: process.env.PATH }, ...options }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A manifest of an inline plugin, with more lines added. */
export function inlineManifest(name: string, more = ''): string {
  return `name: ${name}\nversion: 1.0.0\ndescription: A test plugin.\nruntime: inline\nmodule: ./index.mjs\n${more}`;
}

export interface Recorded {
  readonly progress: JsonObject[];
  readonly logged: string[];
  readonly called: { readonly method: string; readonly params: JsonObject }[];
  readonly effects: (FileChange | Exclude<Effect, { kind: 'file' }>)[];
}

/** An invocation whose host calls are written down. `answer` is what `host.call` answers. */
export function invocation(
  payload: Invocation['payload'],
  options: { readonly signal?: AbortSignal; readonly answer?: Json } = {},
): Invocation & { readonly recorded: Recorded } {
  const recorded: Recorded = { progress: [], logged: [], called: [], effects: [] };
  const host: HostCalls = {
    progress: (data) => void recorded.progress.push(data),
    log: (level, message) => void recorded.logged.push(`${level} ${message}`),
    secret: async () => 'unused',
    call: async (method, params) => {
      recorded.called.push({ method, params });
      return options.answer ?? null;
    },
    context: async () => ({ history: [] }),
    value: async (name) => (name === 'now' ? 1_000 : name === 'random' ? 0.5 : 'a-uuid'),
    effect: (effect) => void recorded.effects.push(effect),
  };
  const signal = options.signal ?? new AbortController().signal;
  return {
    payload,
    ctx: {
      session: 's',
      step: 1,
      trace_id: 't',
      attempt: 1,
      idempotency_key: 'k',
      deadline: Date.now() + 60_000,
      workspace: '/',
    },
    signal,
    stop: signal,
    host,
    recorded,
  };
}
