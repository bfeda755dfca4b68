/**
 * Requests that could not be brought to the other side.
 *
 * Promise: their callers hear of it at once, through the answers that the other side could not give.
 */
import type { WireError } from '../errors.ts';
import { errorText, isId, type Wire } from '../message.ts';

/**
 * The texts of error answers for the requests in a text that was to be sent; none if it is no message.
 *
 * @param said what the other side did answer: a request whose id is in it has its answer
 */
export function answersFor(text: string, error: WireError, said = ''): string[] {
  let messages: (Wire | null)[];
  try {
    messages = [JSON.parse(text) as Wire | Wire[]].flat();
  } catch {
    return [];
  }
  return messages
    .filter((message) => typeof message === 'object' && message !== null)
    .filter(({ method, id }) => method !== undefined && isId(id) && !said.includes(JSON.stringify(id)))
    .map(({ id }) => errorText(id as string, error));
}
