/** What is said first about a record that is not whole: damage must never look like health. */
import { describeProblem, isLoss, lostBlobIn, type SessionView } from '@chassis/journal';
import { isBundlePath } from '../address.ts';
import { paint } from '../terminal/screen.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible } from '../terminal/text.ts';
import { mark } from './mark.ts';

/** One line, or none when the record is whole. A damaged value is known only after it was looked at. */
export function damageLines({ problems }: SessionView, name: string): string[] {
  const [first, ...more] = problems.filter(isLoss);
  if (first === undefined) return [];
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  const verify = `chassis verify ${isBundlePath(name) ? shellWord(name) : name}`;
  return [
    `${mark('failed')} ${paint('yellow', `the record is damaged: ${visible(describeProblem(first))}${others}; the rest is shown (${verify})`)}`,
  ];
}

/** The same as data. */
export function damageRecord({ problems }: SessionView): { readonly problems?: SessionView['problems'] } {
  return problems.length === 0 ? {} : { problems };
}

/** That something in a value is not on record; nothing when all of it is. */
export function lostLines(value: unknown): string[] {
  const lost = lostBlobIn(value)?.$blob;
  return lost === undefined ? [] : [lostLine(`blob ${lost.sha256} (${lost.bytes} bytes)`)];
}

export function lostLine(what: string): string {
  return paint('yellow', `not on record: ${visible(what)}`);
}
