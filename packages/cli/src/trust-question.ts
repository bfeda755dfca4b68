/**
 * The question before a project's own code runs.
 *
 * Promise: no code of a project that somebody else wrote runs, and none of its settings that loosen something counts, before
 * a person said yes to exactly this content; without a terminal only `--trust` says yes.
 */
import { resolve } from 'node:path';
import { type Project, type TrustReason, trust, trustState } from '@chassis/runtime';
import { usage } from './failure.ts';
import type { Output } from './output.ts';
import { shortValue } from './present/value.ts';
import type { Globals } from './reference/spec.ts';
import { visible } from './terminal/text.ts';

/**
 * @param only the plugins that will be started; all without it
 * @param options `listed`: the person has been shown what it is about
 * @throws InvalidParams when nobody said yes
 */
export async function ensureTrust(
  project: Project,
  globals: Pick<Globals, 'trust'>,
  out: Output,
  only?: readonly string[],
  { listed = false }: { readonly listed?: boolean } = {},
): Promise<void> {
  const state = await trustState(project);
  if (state.trusted || (only !== undefined && !runsProjectCode(project, state.reasons, only))) return;
  // After an edit only what was edited is the question; where something was taken out there is only the whole.
  const reasons = state.fresh.length > 0 ? state.fresh : state.reasons;
  const things = reasons.map(nameOf).join(', ');
  if (globals.trust) {
    await trust(project);
    out.progress(`trusted ${project.root}: ${things}`);
    return;
  }
  // Whoever has just been shown the list need not be sent to it.
  const look = listed ? '' : 'look at it (chassis trust lists it), then ';
  const what = state.changed ? 'has changed since you trusted it, and brings' : 'brings';
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usage(
      `${project.root} ${what} what needs your trust: ${things}; ${look}say yes once with --trust`,
      { reasons },
    );
  for (const line of [
    `${visible(project.root)} ${what}:`,
    ...reasons.map((reason) => `  ${reasonLine(reason)}`),
  ])
    out.note(line);
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    message: 'Do you trust it? Its code runs with your rights.',
    initialValue: false,
    output: process.stderr,
  });
  if (answer !== true) throw usage(`${project.root} is not trusted: nothing was run`);
  await trust(project);
}

/**
 * Before a plugin is loaded into a run that goes on: nobody can be asked there. A run that was started with `--trust` is
 * that of somebody who writes the plugins.
 *
 * @throws InvalidParams when nobody has said yes to the plugin, or to its settings, as they are now
 */
export async function demandTrust(
  project: Project,
  { name }: { readonly name: string },
  globals: Pick<Globals, 'trust'>,
): Promise<void> {
  if (globals.trust) return trust(project);
  const { trusted, fresh } = await trustState(project);
  // A reload takes in the plugin, its block, and what the configuration says of tools and secrets; no other plugin's block.
  const asked = fresh.filter((reason) =>
    reason.kind === 'plugin'
      ? reason.name === name
      : reason.key.startsWith(`plugins.${name}.`) || /^(?:tools|secrets)\./.test(reason.key),
  );
  if (trusted || asked.length === 0) return;
  throw usage(
    `${asked.map(nameOf).join(', ')} in ${project.root} needs your trust: look at it, then say yes with chassis plugin reload ${name} --trust`,
    { reasons: asked },
  );
}

/** Whether a person has said yes to its code: now, to the project that brings it, or by where they have put it. */
export async function trustedFolder(
  folder: string,
  project: Project,
  globals: Pick<Globals, 'trust'>,
): Promise<boolean> {
  if (globals.trust) return true;
  const entry = project.catalogue.entries.find((one) => resolve(one.folder) === folder && one.enabled);
  if (entry === undefined) return false;
  const own = entry.origin === 'user' || entry.origin === 'option' || entry.origin === 'first-party';
  return own || (await trustState(project)).trusted;
}

/** Only what is started counts: a replay with the agent that comes with the command runs no code of the project. */
function runsProjectCode(
  project: Project,
  reasons: readonly TrustReason[],
  only: readonly string[],
): boolean {
  const brought = new Set(reasons.flatMap((reason) => (reason.kind === 'plugin' ? [reason.name] : [])));
  return only.some((name) => {
    const needs = project.catalogue.find(name)?.source.manifest.depends_on ?? [];
    return brought.has(name) || needs.length > 0;
  });
}

function nameOf(reason: TrustReason): string {
  return reason.kind === 'plugin' ? `plugin ${reason.name}` : `setting ${reason.key}`;
}

/** What would run, or what is loosened, and where it stands. */
export function reasonLine(reason: TrustReason): string {
  return reason.kind === 'plugin'
    ? `plugin ${visible(reason.name)} runs ${visible(reason.runs)} in ${visible(reason.folder)}`
    : `${visible(reason.key)} = ${shortValue(reason.value, 80)} at ${visible(reason.at)}`;
}
