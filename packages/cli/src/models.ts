/**
 * Which model a run asks: checked before anything is recorded, because a name that does not exist, or a script with a mistake
 * in it, is a wrong command line and no failed run.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import {
  isUnavailable,
  type LiveRegistry,
  type Project,
  type TurnModel,
  type Unavailable,
} from '@chassis/runtime';
import { usage } from './failure.ts';

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
  const refusals: Unavailable[] = [];
  const names = [model.name, ...model.fallbacks];
  for (const name of names) {
    const found = registry.resolveModel(name);
    if (!isUnavailable(found)) continue;
    if (found.phase === 'unknown' || isWrongSetUp(found)) throw refusal(found);
    refusals.push(found);
  }
  const [first] = refusals;
  if (first !== undefined && refusals.length === names.length) throw refusal(first);
}

/** @throws what keeps the agent from running */
export function demandAgent(name: string, registry: LiveRegistry): void {
  const found = registry.resolveAgent(name);
  if (isUnavailable(found)) throw refusal(found);
}

/** A manifest, configuration or script with a mistake in it: its message names file, line and column. */
function isWrongSetUp({ phase, cause }: Unavailable): boolean {
  return (
    (phase === 'manifest' || phase === 'config' || phase === 'on_load') &&
    cause.code === ErrorCode.InvalidParams
  );
}

function refusal(record: Unavailable): ChassisError {
  const { cause, fix } = record;
  if (record.phase === 'unknown' || isWrongSetUp(record)) {
    const issues = (cause.data as { issues?: unknown } | undefined)?.issues;
    return usage(cause.message, { ...record, ...(issues === undefined ? {} : { issues }) });
  }
  const message = cause.message.includes(record.capability)
    ? cause.message
    : `${record.capability} is unavailable: ${cause.message}`;
  return new ChassisError('Unavailable', message, { data: { ...record, fix } });
}
