/**
 * Which model a run asks: checked before anything is recorded, because a name that does not exist, or a script with a mistake
 * in it, is a wrong command line and no failed run.
 */
import {
  isUnavailable,
  type LiveRegistry,
  type Project,
  type TurnModel,
  type Unavailable,
} from '@chassis/runtime';
import { usage } from './failure.ts';
import { isMistake, refusalOf } from './refusal.ts';

/** `--model a,b`: the first choice and the fallbacks, with the parameters of the configuration. */
export function modelOf(option: string | undefined, project: Project): TurnModel {
  const names =
    option === undefined ? project.config.model.use : option.split(',').map((name) => name.trim());
  const [name, ...fallbacks] = names;
  if (option !== undefined && names.includes(''))
    throw usage(`--model ${option}: write one name, or several with commas`);
  if (name === undefined)
    throw usage(
      'no model is chosen: give --model, or set model in chassis.yaml (deepseek, openai, ollama, or scripted for offline)',
    );
  return { name, fallbacks, params: project.config.model.params };
}

/** @throws what keeps every one of the model's choices from being asked, or the first name that does not exist */
export function demandModel(model: TurnModel, registry: LiveRegistry): void {
  demandScript(model, registry.project);
  const refusals: Unavailable[] = [];
  const names = [model.name, ...model.fallbacks];
  for (const name of names) {
    const found = registry.resolveModel(name);
    if (!isUnavailable(found)) continue;
    if (isMistake(found)) throw refusalOf(rootOf(found, registry));
    refusals.push(found);
  }
  const [first] = refusals;
  if (first !== undefined && refusals.length === names.length) throw refusalOf(first);
}

/** A name that nobody has may be one that a plugin had, were it not for a mistake in its own configuration: that is told then. */
function rootOf(found: Unavailable, registry: LiveRegistry): Unavailable {
  if (found.phase !== 'unknown') return found;
  const named = (owner: string): boolean => {
    const entry = registry.project.catalogue.find(owner);
    return (entry?.source.manifest.models.length ?? 0) > 0;
  };
  const root = registry.problems().find((one) => one.owner !== null && isMistake(one) && named(one.owner));
  return root ?? found;
}

/** @throws InvalidParams when the model that plays a script has none to play, and no other model follows it */
function demandScript({ name, fallbacks }: TurnModel, project: Project): void {
  const { catalogue, config } = project;
  if (!/^scripted(?:\/|$)/.test(name) || fallbacks.length > 0) return;
  const entry = catalogue.find('scripted');
  if (entry?.origin !== 'first-party' || entry.block.config.script !== undefined) return;
  const at = config.model.use.includes(name) ? `${project.origin('model.use')?.text ?? 'model'}: ` : '';
  throw usage(
    `${at}the model scripted plays a script, and none is named: give --script FILE, or set plugins.scripted.config.script`,
  );
}

/** @throws what keeps the agent from running */
export function demandAgent(name: string, registry: LiveRegistry): void {
  const found = registry.resolveAgent(name);
  if (isUnavailable(found)) throw refusalOf(found);
}
