/**
 * A run as it happens.
 *
 * Promise: on a terminal everything stands on stdout; in a pipe stdout has the answer and nothing else, progress goes to
 * stderr as plain lines. With `--json` each event and each streamed piece is a record.
 */
import { errorName } from '@chassis/errors';
import {
  type Event,
  type EventData,
  type Secrets,
  type SessionView,
  type Step,
  stepsFrom,
} from '@chassis/journal';
import { isUnavailable, type Registry, type Session, type TurnResult } from '@chassis/runtime';
import type { ModelChunk } from '@chassis/types';
import type { Output } from './output.ts';
import { inColourOf, mark } from './present/mark.ts';
import { nextLines } from './present/next-commands.ts';
import { shortInput, tokens, totals } from './present/step-line.ts';
import { errorLine } from './present/timeline.ts';
import { shortValue } from './present/value.ts';
import { SafeStream } from './safe-stream.ts';
import { paint, screenWidth } from './terminal/screen.ts';
import { visible, visibleLines } from './terminal/text.ts';
import { count, duration, money } from './terminal/units.ts';

interface Open extends Pick<Step, 'kind' | 'name'> {
  /** The model that was asked last. */
  readonly model?: string;
  readonly slow: NodeJS.Timeout;
}

/** How long a step runs silently before it is told that it does. */
const SILENT_MS = 1000;

export class RunView {
  readonly #out: Output;
  readonly #quiet: boolean;
  readonly #live: boolean;
  readonly #stream: NodeJS.WriteStream;
  readonly #safe: SafeStream;
  readonly #open = new Map<number, Open>();
  /** The model step whose text stands unfinished on the last line. */
  #writing: { readonly step: number; readonly reasoning: boolean } | undefined;
  #shown = '';
  #session: Pick<Session, 'view'> | undefined;
  /** Steps that a session that goes on has closed, because nobody saw their end. */
  readonly #closed = new Set<number>();
  #registry: Pick<Registry, 'resolveTool'> | undefined;

  constructor(out: Output, secrets: Secrets) {
    this.#out = out;
    this.#safe = new SafeStream(secrets);
    this.#quiet = out.quiet || out.json;
    this.#live = process.stdout.isTTY === true && !out.json;
    this.#stream = this.#live ? process.stdout : process.stderr;
  }

  /** @param registry says why a step that was interrupted may run again */
  follow(session: Pick<Session, 'view'>, registry: Pick<Registry, 'resolveTool'>): void {
    this.#session = session;
    this.#registry = registry;
  }

  readonly event = (event: Event): void => {
    if (event.type === 'step.finished' && event.step !== undefined)
      this.#show(event.step, this.#safe.rest(event.step));
    this.#out.record({ type: 'event', event });
    if (this.#quiet) return;
    if (event.type === 'session.resumed') this.#resumed(event.data.rerun);
    if (event.step === undefined) return;
    if (event.type === 'step.dispatched' && event.data.model !== undefined) {
      const open = this.#open.get(event.step);
      if (open !== undefined) this.#open.set(event.step, { ...open, model: event.data.model });
    }
    if (event.type === 'step.started') this.#started(event.step, event.data);
    // Waiting for a person is no running.
    if (event.type === 'approval.requested') clearTimeout(this.#open.get(event.step)?.slow);
    if (event.type === 'step.attempt') this.#failedAttempt(event.step, event.data);
    if (event.type === 'step.finished') this.#finished(event.step, event.data);
  };

  readonly chunk = (step: number, chunk: ModelChunk): void => this.#show(step, this.#safe.pass(step, chunk));

  /** The answer, or what went wrong; then what it took and what can be done next. */
  end(result: TurnResult, view: SessionView, since: number): void {
    this.#endLine();
    for (const { slow } of this.#open.values()) clearTimeout(slow);
    const { answer, error, failed_step } = result;
    if (answer !== undefined && !(this.#live && !this.#quiet && this.#shown.trim() === answer.trim()))
      this.#answer(answer);
    if (result.outcome === 'cancelled') this.#out.note('chassis: the run was cancelled');
    else if (error !== undefined) this.#out.note(`chassis: ${failure(view, failed_step)}${errorLine(error)}`);
    else if (result.outcome !== 'ok') this.#out.note(`chassis: the run was ${result.outcome}`);
    if (this.#quiet) return;
    const steps = stepsFrom(view, result.turn).filter((step) => step.turn === result.turn);
    const { input, output, cost_usd } = totals(steps);
    const facts = [
      `${steps.length} step${steps.length === 1 ? '' : 's'}`,
      input + output === 0 ? '' : `${count(input)}→${count(output)} tokens`,
      money(cost_usd),
      duration(performance.now() - since),
      `session ${view.header.id}`,
    ].filter((fact) => fact !== '');
    this.#line(
      `${mark(result.outcome, this.#stream)} ${inColourOf(result.outcome, result.outcome, this.#stream)}  ${facts.join(' · ')}`,
    );
    for (const line of nextLines(view, view.header.id, result.outcome))
      this.#line(paint('dim', line, this.#stream));
  }

  #show(step: number, chunk: ModelChunk | undefined): void {
    if (chunk === undefined) return;
    this.#out.record({ type: 'chunk', step, chunk });
    if (this.#quiet || !this.#live) return;
    if (chunk.reasoning !== undefined) this.#write(step, chunk.reasoning, true);
    if (chunk.text !== undefined) this.#write(step, chunk.text, false);
  }

  #answer(answer: string): void {
    // In a pipe the answer belongs to the next program, byte for byte; on a terminal it must not steer it.
    if (this.#live) this.#out.line(visibleLines(answer));
    else this.#out.line(answer);
  }

  /** What becomes of the steps that were interrupted. */
  #resumed(rerun: readonly number[]): void {
    const { view } = this.#session ?? {};
    if (view === undefined) return;
    const turn = view.turns.length;
    for (const step of stepsFrom(view, turn)) {
      if (this.#closed.has(step.number)) this.#unknown(step.number, step.name);
      else if (rerun.includes(step.number) || step.seq.finished === undefined) this.#again(step);
    }
    this.#closed.clear();
  }

  #again(step: Step): void {
    const why = whyAgain(step, this.#registry);
    if (why !== undefined) this.#line(`step ${step.number} ${visible(step.name)}: running again (${why})`);
    this.#started(step.number, step);
  }

  #unknown(number: number, name: string): void {
    this.#line(`step ${number} ${visible(name)}: its outcome is unknown; not run again, the model is told`);
  }

  #started(number: number, { kind, name }: Pick<Step, 'kind' | 'name'>): void {
    const slow = setTimeout(() => {
      if (this.#writing?.step === number) return;
      this.#endLine();
      this.#line(
        `${mark('running', this.#stream)} ${String(number).padStart(3)} ${kind} ${visible(name)} is running…`,
      );
    }, SILENT_MS);
    this.#open.set(number, { kind, name, slow });
  }

  #failedAttempt(number: number, { attempt, error, wait_ms, next_model }: EventData['step.attempt']): void {
    this.#endLine();
    this.#shown = '';
    const then =
      next_model === undefined ? `again in ${duration(wait_ms)}` : `going on with ${visible(next_model)}`;
    this.#line(
      `${mark('timeout', this.#stream)} ${String(number).padStart(3)} attempt ${attempt} failed, ${errorName(error.code)}: ${shortValue(error.message, 200)}; ${then}`,
    );
  }

  #finished(number: number, data: EventData['step.finished']): void {
    const open = this.#open.get(number);
    if (open === undefined) {
      if (data.status === 'unknown') this.#closed.add(number);
      return;
    }
    clearTimeout(open.slow);
    this.#open.delete(number);
    this.#endLine();
    const { status, duration_ms, usage, error, attempts } = data;
    if (status === 'unknown') {
      this.#unknown(number, open.name);
      return;
    }
    // From the view, which has the large values that an event only points at.
    const step = this.#session?.view.step(number);
    const what = open.kind === 'model' || step === undefined ? '' : shortInput(step, room());
    const parts = [
      `${open.kind.padEnd(5)} ${visible(open.model ?? open.name)}`,
      what,
      status === 'ok' ? '' : inColourOf(status, status, this.#stream),
      duration(duration_ms),
      usage ? `${tokens(usage)} tokens` : '',
      attempts > 1 ? `${attempts} attempts` : '',
      // What was denied says how it can be allowed: that must not be cut.
      error === undefined ? '' : shortValue(error.message, status === 'denied' ? 400 : 160),
    ].filter((part) => part !== '');
    this.#line(`${mark(status, this.#stream)} ${String(number).padStart(3)} ${parts.join('  ')}`);
  }

  #write(step: number, text: string, reasoning: boolean): void {
    if (text === '') return;
    if (this.#writing !== undefined && (this.#writing.step !== step || this.#writing.reasoning !== reasoning))
      this.#endLine();
    if (this.#writing === undefined && !reasoning) this.#shown = '';
    this.#writing = { step, reasoning };
    if (!reasoning) this.#shown += text;
    const clean = visibleLines(text);
    this.#out.part(reasoning ? paint('dim', clean) : clean);
  }

  #endLine(): void {
    if (this.#writing === undefined) return;
    this.#writing = undefined;
    this.#out.line();
  }

  #line(text: string): void {
    if (this.#live) this.#out.line(text);
    else this.#out.note(text);
  }
}

/** Why an interrupted step may run again; undefined when a person is asked first. */
function whyAgain(step: Step, registry: Pick<Registry, 'resolveTool'> | undefined): string | undefined {
  if (step.kind !== 'tool') return step.kind === 'model' ? 'the model is asked again' : 'it changes nothing';
  if (step.seq.dispatched === undefined) return 'it had not begun';
  const binding = registry?.resolveTool(step.name);
  if (binding === undefined || isUnavailable(binding)) return undefined;
  const { effects, idempotent } = binding.definition;
  if (effects === 'none' || effects === 'read') return 'it only reads';
  return idempotent ? 'it may be repeated' : undefined;
}

/** Cells for the arguments of a call, so that a line mostly stays one line. */
function room(): number {
  return Math.min(80, Math.max(20, (screenWidth() ?? 100) - 50));
}

function failure(view: SessionView, number: number | undefined): string {
  const step = number === undefined ? undefined : view.step(number);
  return step === undefined ? '' : `step ${step.number} (${step.kind} ${visible(step.name)}) failed: `;
}
