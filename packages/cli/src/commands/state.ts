/** `chassis state`: what the conversation and the files were after a step. Nothing runs. */
import { changingSteps, type SessionView, stateSteps, unfinishedSteps } from '@chassis/journal';
import { conversationBefore } from '@chassis/runtime';
import type { Effect, JsonObject } from '@chassis/types';
import { messageLines } from '../present/step.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress, stepNumber } from '../sessions.ts';
import { paint } from '../terminal/screen.ts';
import { visible } from '../terminal/text.ts';
import { stepNamed } from './show.ts';

type FileEffect = Extract<Effect, { kind: 'file' }>;

export async function state({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ at?: string }>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { reader, name, address } = opened;
  const whole = await whileWaiting(out, 'reading the record…', reader.view());
  const number = await stepNumber(whole, stepNamed(address, options.at, '--at') ?? 'end');
  const view = await reader.view(endOf(whole, number));
  const messages = conversationBefore(view, view.turns.length + 1);
  const files = filesOf(view);
  const states = stateSteps(view);

  out.line(
    `${paint('bold', `${visible(name)}:${number}`)}  ${view.steps.length} steps so far, turn ${view.turns.length}`,
  );
  out.line(paint('bold', 'conversation'));
  for (const message of messages)
    for (const line of messageLines(message)) out.line(`  ${line.replaceAll('\n', '\n  ')}`);
  out.line(paint('bold', 'files changed since the start'));
  if (files.length === 0) out.line('  none on record');
  for (const file of files)
    out.line(
      `  ${file.after === null ? 'deleted' : file.after.slice(0, 12)}  ${visible(file.path)}  (step ${file.step})`,
    );
  const open = unfinishedSteps(view);
  for (const step of open) out.line(`step ${step.number} (${step.kind} ${visible(step.name)}) was running`);
  await opened.close();
  return {
    result: {
      session: reader.id,
      at: number,
      turn: view.turns.length,
      steps: view.steps.length,
      running: open.map((step) => step.number),
      messages,
      state: Object.fromEntries(states.map((step) => [step.name, step.input])) as JsonObject,
      files,
    },
  };
}

/** The last event that belongs to the state after a step. The step that a fork branched off behind has its edit, too. */
function endOf(view: SessionView, number: number): number | undefined {
  const { parent } = view.header;
  const seq = view.step(number)?.seq;
  // Behind the shared past stand session.opened and session.forked.
  if (parent !== undefined && parent.step === number) return parent.seq + 2;
  return seq?.finished ?? seq?.dispatched ?? seq?.started;
}

/** Each file that a step changed, as the last of them left it. */
function filesOf(view: SessionView): (FileEffect & { readonly step: number })[] {
  const files = new Map<string, FileEffect & { readonly step: number }>();
  for (const step of changingSteps(view))
    for (const effect of step.effects)
      if (effect.kind === 'file') files.set(effect.path, { ...effect, step: step.number });
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}
