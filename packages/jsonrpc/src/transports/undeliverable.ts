/**
 * Requests that could not be brought to the other side.
 *
 * Promise: their callers hear of it at once, through the answers that the other side could not give.
 */
import type { WireError } from '../errors.ts';
import { errorText, isId, type Wire } from '../message.ts';

/** The texts of error answers for the requests in a text that we wrote. */
export function answersFor(text: string, error: WireError): string[] {
  const messages = [JSON.parse(text) as Wire | Wire[]].flat();
  return messages
    .filter(({ method, id }) => method !== undefined && isId(id))
    .map(({ id }) => errorText(id as string, error));
}
