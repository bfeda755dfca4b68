/** `chassis search`: where words stand in all sessions, as addresses that other commands take. */
import type { SearchHit } from '@chassis/journal';
import { formatAddress } from '../address.ts';
import { usage } from '../failure.ts';
import type { Output } from '../output.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { existingStore } from '../store.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { table } from '../terminal/table.ts';
import { visible } from '../terminal/text.ts';

export async function search({
  args,
  options,
  globals,
  out,
}: Call<{ readonly limit?: string }>): Promise<Ending> {
  const { limit = '50' } = options;
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw usage(`--limit ${limit}: it must be a whole number`);
  // Words that the shell took apart; a phrase keeps its spaces.
  const text = args.map((word) => (args.length > 1 && word.includes(' ') ? `"${word}"` : word)).join(' ');
  if (!/[\p{L}\p{N}]/u.test(text)) throw usage('a search needs a word: chassis search "late orders"');
  const store = existingStore(globals);
  try {
    const hits = await whileWaiting(out, 'searching sessions…', store.search(text, { limit: Number(limit) }));
    for (const hit of hits) out.record({ type: 'hit', address: addressOf(hit), ...hit });
    if (!out.json) print(hits, out);
    return { result: { hits: hits.length } };
  } finally {
    await store.close();
  }
}

function print(hits: readonly SearchHit[], out: Output): void {
  if (hits.length === 0) {
    out.note(
      'nothing found: titles, messages, tools, errors and notes were searched; chassis ls --grep searches whole records',
    );
    return;
  }
  const columns = [{ title: 'address' }, { title: 'what', drop: 1 }, { title: 'text', shrinkTo: 20 }];
  const rows = hits.map((hit) => [addressOf(hit), hit.kind, visible(hit.text)]);
  const [head = '', ...lines] = table(columns, rows, screenWidth());
  out.line(paint('dim', head));
  for (const line of lines) out.line(line);
}

function addressOf({ session, step }: SearchHit): string {
  return formatAddress({ session, ...(step === undefined ? {} : { step }) });
}
