/** Checks a document against a schema: issues with the file, line and column of the offending key or value. */
import type { SourceDocument } from './document.ts';
import { type Issue, invalid, pointerKeys, pointerToken } from './issue.ts';
import type { Check } from './validate.ts';

/** The document's issues, in the order of the file. */
export function checkDocument(document: SourceDocument, check: Check): readonly Issue[] {
  const value = document.value === undefined ? {} : document.value;
  return check(value)
    .map((issue) => withPlace(document, issue))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** @throws InvalidParams with all issues */
export function expectDocument(document: SourceDocument, check: Check): void {
  const issues = checkDocument(document, check);
  if (issues.length > 0) throw invalid(issues);
}

/** Issues about the key itself, or about one that is not there. */
const ABOUT_KEY = /^(unknown key|"[^"]*" is (missing|no valid key))/;

/**
 * The issue with the place of its path, or of the nearest thing around it.
 *
 * @param what whether the key or the value is wrong; by the issue's message when left out
 */
export function withPlace(
  document: SourceDocument,
  issue: Issue,
  what: 'key' | 'value' = ABOUT_KEY.test(issue.message) ? 'key' : 'value',
): Issue {
  const keys = pointerKeys(issue.path);
  for (let n = keys.length; n >= 0; n--) {
    const pointer = keys
      .slice(0, n)
      .map((key) => `/${pointerToken(key)}`)
      .join('');
    const place = document.place(pointer, what);
    if (place !== undefined) return { ...issue, file: document.file, ...place };
  }
  return { ...issue, file: document.file, line: 1, column: 1 };
}
