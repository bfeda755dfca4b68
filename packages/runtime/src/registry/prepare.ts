/**
 * Everything a host is given, made from a catalogue entry and the project: configuration with its placeholders
 * expanded and checked, names of models, environment, secrets.
 *
 * Promise: a problem of the configuration names the file and line that it came from, and never a value that
 * came out of a placeholder.
 */
import { ChassisError } from '@chassis/errors';
import { compileSchema, type Issue, invalid, pointerKeys } from '@chassis/schema';
import type { Json, JsonObject } from '@chassis/types';
import { buildEnvironment } from '../host/environment.ts';
import { buildHeaders, HeaderError } from '../host/headers.ts';
import { type HostOptions, type Log, PhaseError } from '../host/host.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { modelNames } from '../plugin/offers.ts';
import { withDefaults } from '../plugin/schema-defaults.ts';
import {
  expand,
  hasPlaceholder,
  type Lookup,
  PlaceholderError,
  placeholdersIn,
} from '../project/placeholders.ts';
import type { Project } from '../project/project.ts';
import type { Secrets } from '../project/secrets.ts';
import type { Spans } from './spans.ts';

/** @throws PhaseError of phase `config` */
export async function prepare(
  entry: CatalogueEntry,
  project: Project,
  secrets: Secrets,
  log: Log,
  spans: Spans,
): Promise<HostOptions> {
  const { manifest } = entry.source;
  demandEnforcement(entry, project);
  const lookup: Lookup = {
    env: (name) => secrets.variable(name),
    secret: (name) => secrets.configured(name),
  };
  const config = await pluginConfig(entry, project, lookup);
  const env = await located(entry, project, 'env', () =>
    buildEnvironment(manifest.permissions.env, entry.block, lookup, project.env),
  );
  return {
    entry,
    config,
    models: modelNames(manifest, config),
    env,
    headers: await headersOf(entry, project, secrets),
    project: project.root,
    log: (level, message, ...data) => {
      spans.say(message);
      log(level, message, ...data);
    },
    span: (name, work) => spans.run(name, work),
    secret: (name) => spans.run(`secret ${name}`, () => pluginSecret(entry, name, secrets)),
  };
}

/** No host of this version enforces permissions; a project that demands more must not get less. */
function demandEnforcement(entry: CatalogueEntry, project: Project): void {
  const { minimum } = project.config.enforcement;
  if (minimum === 'declared') return;
  const at = project.origin('enforcement.minimum')?.text ?? 'enforcement.minimum';
  throw new PhaseError(
    'config',
    new ChassisError(
      'PermissionDenied',
      `${at}: the project demands enforcement ${minimum}, but permissions of ${entry.name} are only declared`,
    ),
    'set enforcement.minimum to declared, or disable the plugin',
  );
}

async function pluginConfig(entry: CatalogueEntry, project: Project, lookup: Lookup): Promise<JsonObject> {
  const { manifest } = entry.source;
  const written = entry.block.config;
  if (manifest.config === undefined && Object.keys(written).length > 0) {
    const place = placeOf(project, entry, 'config', []);
    throw configError(entry, [
      { path: '', file: place, message: `plugin ${entry.name} takes no configuration` },
    ]);
  }
  const expanded = (await located(entry, project, 'config', () => expand(written, lookup))) as JsonObject;
  const config = withDefaults(manifest.config, expanded);
  const issues = manifest.config === undefined ? [] : compileSchema(manifest.config)(config);
  if (issues.length > 0) {
    throw configError(
      entry,
      issues.map((issue) => locate(issue, written, entry, project)),
    );
  }
  return config;
}

/** A manifest's headers may use the secrets that it was granted; those of the configuration are the project's own. */
async function headersOf(
  entry: CatalogueEntry,
  project: Project,
  secrets: Secrets,
): Promise<Record<string, string>> {
  const lookup: Lookup = {
    env: (name) => secrets.variable(name),
    secret: async (name) => (await secrets.configured(name)) ?? secrets.variable(name),
  };
  try {
    return await buildHeaders(entry.source, entry.block, lookup);
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error;
    const { origin, path, message } = error;
    const file =
      origin === 'manifest'
        ? entry.source.at(`/headers${path}`)
        : placeOf(project, entry, 'headers', pointerKeys(path));
    throw configError(entry, [{ path, file, message }]);
  }
}

async function located<T>(
  entry: CatalogueEntry,
  project: Project,
  section: 'config' | 'env',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PlaceholderError)) throw error;
    const file = placeOf(project, entry, section, pointerKeys(error.path));
    throw configError(entry, [{ path: error.path, file, message: error.message }]);
  }
}

function locate(issue: Issue, written: JsonObject, entry: CatalogueEntry, project: Project): Issue {
  const keys = pointerKeys(issue.path);
  const file = placeOf(project, entry, 'config', keys);
  const original = keys.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key],
    written,
  );
  if (typeof original !== 'string' || !hasPlaceholder(original)) return { ...issue, file };
  const { received: _received, ...rest } = issue;
  return {
    ...rest,
    file,
    message: `the value of ${original} does not fit; expected ${issue.expected ?? 'another'}`,
  };
}

/** `file:line:column` of a member of the plugin's block, or of the nearest thing around it. */
export function placeOf(
  project: Project,
  entry: CatalogueEntry,
  section: string,
  keys: readonly string[],
): string {
  const path = ['plugins', entry.name, section, ...keys];
  for (let n = path.length; n > 1; n--) {
    const origin = project.origin(path.slice(0, n));
    if (origin !== undefined) return origin.text;
  }
  return project.file ?? `plugins.${entry.name}.${section}`;
}

function configError(entry: CatalogueEntry, issues: readonly Issue[]): PhaseError {
  return new PhaseError('config', invalid(issues), `correct plugins.${entry.name} in the configuration`);
}

/**
 * A secret that the manifest or the project's block names; its value comes from `secrets:` in the
 * configuration, else from the variable of that name.
 */
async function pluginSecret(entry: CatalogueEntry, name: string, secrets: Secrets): Promise<string> {
  const { permissions } = entry.source.manifest;
  const { block } = entry;
  const granted =
    permissions.secrets.includes(name) ||
    permissions.env.includes(name) ||
    block.secrets.includes(name) ||
    placeholdersIn(block.config).some((placeholder) => placeholder.name === name) ||
    names(block.config, name);
  if (!granted) {
    throw new ChassisError('PermissionDenied', `plugin ${entry.name} may not read the secret ${name}`, {
      data: { fix: `list ${name} under plugins.${entry.name}.secrets in the configuration` },
    });
  }
  const value = (await secrets.configured(name)) ?? secrets.variable(name);
  if (value === undefined || value === '') {
    throw new ChassisError('Unauthorized', `the secret ${name} is not set`, {
      data: { fix: `set the variable ${name}, or name its source under secrets in the configuration` },
    });
  }
  secrets.note(name, value);
  return value;
}

/** Whether a configuration names a secret by value, as `api_key_env: MY_KEY` does. */
function names(config: Json, name: string): boolean {
  if (typeof config === 'string') return config === name;
  if (typeof config !== 'object' || config === null) return false;
  return Object.values(config).some((member) => names(member as Json, name));
}
