/** `chassis note`: a person's remark or correction, put on record. What happened stays as it was. */
import { userInfo } from 'node:os';
import { usage } from '../failure.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { sessionOf, stepNumber } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { stepNamed } from './show.ts';

export async function note({
  args: [address = '', text = ''],
  options,
  globals,
  out,
}: Call<{ step?: string }>): Promise<Ending> {
  if (text.trim() === '') throw usage('a note needs words: chassis note ID "…"');
  const store = existingStore(globals);
  try {
    const { id, address: parsed } = await sessionOf(address, store);
    const named = stepNamed(parsed, options.step, '--step');
    const step =
      named === undefined ? undefined : await stepNumber(await (await store.reader(id)).view(), named);
    const writer = await store.open(id);
    let seq: number;
    try {
      seq = writer.append('note.added', { text, author: author() }, step).seq;
      await writer.barrier();
    } finally {
      await writer.close();
    }
    out.note(`noted: chassis show ${visible(id)}${step === undefined ? '' : `:${step}`}`);
    return { result: { session: id, seq, ...(step === undefined ? {} : { step }) } };
  } finally {
    await store.close();
  }
}

/** Who is at the keyboard, as the system knows. */
function author(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}
