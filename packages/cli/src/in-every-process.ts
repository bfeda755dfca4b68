/** The same request to every process of a project that runs. */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { RunningHarness } from '@chassis/runtime';
import type { Output } from './output.ts';
import { visible } from './terminal/text.ts';

export interface Answered {
  readonly pid: number;
  readonly command: string;
  readonly answer: unknown;
}

/** @throws what the first process refused with, after all were asked; what others refused with is told before */
export async function inEveryProcess(
  harnesses: readonly RunningHarness[],
  method: string,
  params: object,
  out: Output,
): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  const refused: ChassisError[] = [];
  for (const { pid, command, call } of harnesses) {
    try {
      answered.push({ pid, command, answer: await call(method, params) });
    } catch (thrown) {
      const { code, message, data } = toChassisError(thrown);
      refused.push(
        new ChassisError(code, `process ${pid} (${command}): ${message}`, { data, cause: thrown }),
      );
    }
  }
  const [first, ...others] = refused;
  for (const { message } of others) out.note(visible(message));
  if (first !== undefined) throw first;
  return answered;
}
