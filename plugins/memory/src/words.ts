/**
 * Text as the index sees it. SQLite's tokenizer takes a run of Chinese, Japanese or Korean characters for one word; so each
 * of them is made a word of its own, in what is indexed and in what is asked, and a run of them is asked for as a phrase.
 */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const words = /[\p{L}\p{N}\p{M}]+/gu;
const ideographRuns =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

export function indexed(text: string): string {
  return text.replaceAll(ideographs, ' $& ');
}

/**
 * A query as an FTS5 expression: any of the words, the beginning of one is enough. Everything is quoted, so no sign of a query
 * is taken for the language of FTS5. Undefined when there is no word in it.
 */
export function expression(query: string): string | undefined {
  const terms = [...query.matchAll(words)]
    .flatMap(([word]) => word.match(ideographRuns) ?? [])
    .map((run) => `"${indexed(run).trim().replaceAll(/\s+/g, ' ')}"*`);
  return terms.length === 0 ? undefined : [...new Set(terms)].join(' OR ');
}
