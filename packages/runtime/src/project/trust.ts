/**
 * Trust: a project that a person only cloned must not run code of its own, or loosen what protects the person,
 * before that person has said yes once.
 *
 * Promise: trust is given to contents, by hash. When the code of the project's plugins or one of the settings
 * below changes, the question comes back. Nothing here runs or prompts; the command line asks.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { placeholdersIn } from './placeholders.ts';
import type { Project } from './project.ts';

/** One thing that the project brings and that needs trust. */
export type TrustReason =
  | {
      readonly kind: 'plugin';
      readonly name: string;
      readonly folder: string;
      readonly digest: string;
      /** What would run: the argv of a process, the module of an inline plugin. */
      readonly runs: string;
    }
  | {
      readonly kind: 'setting';
      /** Dotted key. */
      readonly key: string;
      readonly value: unknown;
      /** `file:line:column` */
      readonly at: string;
    };

export interface TrustState {
  readonly root: string;
  /** Empty: the project brings nothing that needs trust. */
  readonly reasons: readonly TrustReason[];
  /** Whether everything may run: nothing needs trust, or a person has given it to exactly this. */
  readonly trusted: boolean;
  /** Whether the project was trusted before, with other contents. */
  readonly changed: boolean;
  /** Those of the reasons that trust was not given to yet, as they are now. */
  readonly fresh: readonly TrustReason[];
  /** What trust would be given to. */
  readonly digest: string;
}

interface Trusted {
  readonly digest: string;
  /** The digest of each reason; earlier versions wrote none. */
  readonly parts?: readonly string[];
  /** ISO 8601. */
  readonly at: string;
  /** Later changes are trusted too: for the author of the project. */
  readonly changes?: boolean;
}

export async function trustState(project: Project): Promise<TrustState> {
  const reasons = reasonsOf(project);
  const digest = digestOf(reasons);
  const known = (await readStore(project))[project.root];
  const parts = new Set(known?.parts);
  // What a start leaves out for once takes no trust away from the rest.
  const part = leavesOut(project) && reasons.every((reason) => parts.has(partOf(reason)));
  const trusted = reasons.length === 0 || part || known?.digest === digest || known?.changes === true;
  const fresh = trusted ? [] : reasons.filter((reason) => !parts.has(partOf(reason)));
  return { root: project.root, reasons, trusted, changed: known !== undefined && !trusted, fresh, digest };
}

/**
 * Records that a person trusts what the project brings now.
 *
 * @param options `changes`: later changes too, for a project that the person writes themselves
 */
export async function trust(project: Project, options: { readonly changes?: boolean } = {}): Promise<void> {
  const reasons = reasonsOf(project);
  const known = await readStore(project);
  const before = leavesOut(project) ? known[project.root] : undefined;
  const entry: Trusted = {
    digest: before?.digest ?? digestOf(reasons),
    parts: [...new Set([...(before?.parts ?? []), ...reasons.map(partOf)])],
    at: new Date().toISOString(),
    ...(options.changes ? { changes: true } : {}),
  };
  const store = { ...known, [project.root]: entry };
  const file = storeFile(project);
  await mkdir(project.userFolder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(store, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

function leavesOut({ catalogue }: Project): boolean {
  return catalogue.entries.some((entry) => entry.leftOut !== undefined);
}

function reasonsOf(project: Project): TrustReason[] {
  const plugins = project.catalogue.entries
    .filter((entry) => entry.enabled && isBrought(entry, project) && entry.source.manifest.runtime !== 'none')
    .map((entry) => ({
      kind: 'plugin' as const,
      name: entry.name,
      folder: entry.folder,
      digest: entry.digest,
      runs: runsOf(entry),
    }));
  return [...plugins, ...settingsOf(project)];
}

/** The user's own plugins, those given on the command line and first-party ones were chosen by a person already. */
function isBrought(entry: CatalogueEntry, project: Project): boolean {
  switch (entry.origin) {
    case 'project':
      return true;
    case 'config':
      return project.origin('plugins.paths')?.layer === 'project';
    case 'npm':
      return project.origin('plugins.npm')?.layer === 'project';
    case 'option':
    case 'user':
    case 'first-party':
      return false;
  }
}

function runsOf(entry: CatalogueEntry): string {
  const { command, module, url } = entry.source.manifest;
  return command === undefined ? (module ?? url ?? '') : command.join(' ');
}

/**
 * Settings of the project's file that loosen something: a workspace outside of the project, tools that no longer
 * ask, guards that are off or no guards any more, variables and secrets handed to plugins, and where a plugin that
 * holds the person's secrets may be pointed to.
 */
function settingsOf(project: Project): TrustReason[] {
  const { tools, plugins, secrets, workspace } = project.config;
  const found: TrustReason[] = [];
  const add = (keys: readonly string[], value: unknown): void => {
    const origin = project.origin(keys);
    if (origin?.layer === 'project')
      found.push({ kind: 'setting', key: keys.join('.'), value, at: origin.text });
  };
  if (relative(project.root, workspace).startsWith('..')) add(['workspace'], workspace);
  for (const [tool, mode] of Object.entries(tools.approval)) {
    if (mode === 'auto') add(['tools', 'approval', tool], mode);
  }
  for (const [name, source] of Object.entries(secrets)) {
    for (const [kind, value] of Object.entries(source)) add(['secrets', name, kind], value);
  }
  for (const [name, block] of Object.entries(plugins.blocks)) {
    const entry = project.catalogue.find(name);
    if (!block.enabled && entry?.source.manifest.criticality === 'guard')
      add(['plugins', name, 'enabled'], false);
    if (block.criticality !== undefined && entry?.source.manifest.criticality === 'guard') {
      add(['plugins', name, 'criticality'], block.criticality);
    }
    for (const [variable, value] of Object.entries(block.env)) add(['plugins', name, 'env', variable], value);
    for (const [header, value] of Object.entries(block.headers))
      add(['plugins', name, 'headers', header], value);
    const { env = [], secrets: named = [] } = entry?.source.manifest.permissions ?? {};
    const holdsSecrets = env.length > 0 || named.length > 0 || placeholdersIn(block.config).length > 0;
    if (holdsSecrets && Object.keys(block.config).length > 0) add(['plugins', name, 'config'], block.config);
    if (block.secrets.length > 0) add(['plugins', name, 'secrets'], block.secrets);
  }
  return found;
}

function digestOf(reasons: readonly TrustReason[]): string {
  return sha256(reasons.map(textOf).toSorted().join('\n'));
}

function partOf(reason: TrustReason): string {
  return sha256(textOf(reason));
}

/** Places and folders do not count: the same contents elsewhere in the file are the same. */
function textOf(reason: TrustReason): string {
  return JSON.stringify(
    reason.kind === 'plugin' ? ['plugin', reason.name, reason.digest] : ['setting', reason.key, reason.value],
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function storeFile(project: Project): string {
  return join(project.userFolder, 'trusted.json');
}

/** @throws InvalidParams when the store is there and cannot be read: never taken for "nothing is trusted" and overwritten */
async function readStore(project: Project): Promise<Readonly<Record<string, Trusted>>> {
  const file = storeFile(project);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ChassisError('InvalidParams', `${file}: cannot be read: ${fileProblem(error)}`, {
      cause: error,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
    return value as Record<string, Trusted>;
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${file} is no JSON object; correct it or remove it`, { cause });
  }
}
