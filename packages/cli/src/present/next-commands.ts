/**
 * What can be done next with a session as it stands.
 *
 * Promise: whatever stands in these lines as a command works when it is pasted: no placeholder, and only a way on that fits
 * how the run ended.
 */
import { ErrorCode } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { isBundlePath } from '../address.ts';
import { mistakeAt } from '../exit-of-run.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible } from '../terminal/text.ts';

/** `next:` with its commands; after a failure one more line, with what must be done before its command helps. */
export function nextLines(view: SessionView, name: string, outcome: string): string[] {
  const next = `next: ${commands(view, name, outcome).join('   ')}`;
  if (outcome !== 'failed' || isBundlePath(name)) return [next];
  const way = wayOn(view, name);
  return way === undefined ? [next] : [next, `${way.after}: ${way.command}`];
}

function commands(view: SessionView, name: string, outcome: string): string[] {
  const id = shellWord(name);
  // What is in a file is looked at there; to go on with it, it is taken in.
  if (isBundlePath(name)) {
    const look = outcome === 'failed' ? [`chassis why ${id}`] : [`chassis replay ${id}`];
    return [...look, `chassis import ${id}`];
  }
  switch (outcome) {
    case 'failed':
      return [`chassis why ${id}`, `chassis show ${id}:fail`];
    case 'cancelled':
    case 'interrupted':
      return [`chassis resume ${id}`, `chassis show ${id}`];
    case 'ready': {
      // A fork that leaves within a turn goes on with it; one that leaves before a turn waits for words.
      const turn = view.turns.at(-1);
      return turn !== undefined && turn.outcome === undefined
        ? [`chassis resume ${id}`, `chassis show ${id}`]
        : [`chassis log ${id}`];
    }
    case 'running':
      return [`chassis log -f ${id}`];
    default:
      return [`chassis show ${id}`, `chassis replay ${id}`];
  }
}

/** How a failed run goes on, and what comes before. */
interface WayOn {
  readonly after: string;
  readonly command: string;
}

function wayOn(view: SessionView, name: string): WayOn | undefined {
  const turn = view.turns.at(-1);
  const last = view.steps.findLast((step) => step.turn === turn?.number && step.parent === null);
  const resume = `chassis resume ${name}`;
  // A resume asks again what was asked last; a tool that had begun is not run again by it.
  if (last?.error !== undefined && (last.kind === 'model' || last.seq.dispatched === undefined)) {
    const data = (last.error.data ?? {}) as JsonObject;
    switch (last.error.code) {
      case ErrorCode.Unauthorized:
        return { after: 'after setting the key', command: resume };
      case ErrorCode.ModelError: {
        const at = mistakeAt(last.error);
        return {
          after: at === undefined ? whenThere(data) : `after correcting ${visible(at)}`,
          command: resume,
        };
      }
      case ErrorCode.RateLimited:
      case ErrorCode.Unavailable:
        return { after: whenThere(data), command: resume };
      case ErrorCode.ApprovalDenied:
      case ErrorCode.PermissionDenied:
        if (last.kind === 'tool')
          return { after: 'to allow it', command: `${resume} --approve ${shellWord(last.name)}` };
        break;
      case ErrorCode.BudgetExceeded:
        if (typeof data.limit === 'string' && typeof data.allowed === 'number')
          return { after: 'with a higher limit', command: `${resume} ${raised(data.limit, data)}` };
        break;
    }
  }
  // Arguments that the tool's schema refused are no fault of the tool: why says where they came from.
  const failed = failedTool(view);
  const refused = failed?.seq.dispatched === undefined && failed?.error?.code === ErrorCode.InvalidParams;
  if (refused) return undefined;
  const way = repair(view, name);
  // The tool itself found fault with what it was given: it may well be right.
  return way === undefined || failed?.error?.code !== ErrorCode.InvalidParams
    ? way
    : { ...way, after: 'after repairing the tool, or what it was given' };
}

/** What is missing is set or repaired; only what is down for a while comes back by itself. */
function whenThere({ env, fix, phase, retry_at }: JsonObject): string {
  if (typeof env === 'string') return 'after setting the key';
  const passing =
    phase === undefined || phase === 'on_ready' || phase === 'runtime' || retry_at !== undefined;
  return typeof fix !== 'string' || passing ? 'once it answers' : 'after repairing it';
}

function raised(limit: string, { allowed, used }: JsonObject): string {
  const twice = Math.ceil(2 * Math.max(Number(allowed), Number(used ?? 0)));
  return limit === 'steps' ? `--max-steps ${twice}` : `--config limits.${limit}=${twice}`;
}

/** From the model step that asked for the tool that failed: what was asked for then runs anew. */
export function repair(view: SessionView, name: string): WayOn | undefined {
  const failed = failedTool(view);
  if (failed === undefined) return undefined;
  const asked = view.steps.findLast(
    (step) =>
      step.kind === 'model' &&
      step.status === 'ok' &&
      step.number < failed.number &&
      step.turn === failed.turn &&
      step.agent === failed.agent,
  );
  if (asked !== undefined)
    return { after: 'after repairing the tool', command: `chassis fork ${name}:${asked.number} --run` };
  const task = view.turns[failed.turn - 1]?.input ?? '';
  return task === '' || /[\p{Cc}]/u.test(task) || task.length > 200
    ? undefined
    : { after: 'after repairing the tool', command: `chassis run ${shellWord(task)}` };
}

function failedTool(view: SessionView): Step | undefined {
  const turn = view.turns.at(-1);
  const step = turn?.failed_step === undefined ? undefined : view.step(turn.failed_step);
  return step?.kind === 'tool' ? step : undefined;
}
