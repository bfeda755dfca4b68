// Whether answers are the wanted ones.

const sorted = (_, value) =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
const canonical = (value) => JSON.stringify(value, sorted);
const among = (wanted, got) => [wanted].flat().some((w) => Object.is(w, got));

export function matches(want, got) {
  if (want.batch) return Array.isArray(got) && got.length === want.batch.length && assign(want.batch, got);
  if (got === null || typeof got !== 'object' || Array.isArray(got) || got.jsonrpc !== '2.0') return false;
  if ('result' in got === 'error' in got) return false;
  if (!('id' in got) || !among(want.id, got.id)) return false;
  if ('result' in want) return 'result' in got && canonical(want.result) === canonical(got.result);
  return (
    'error' in got &&
    among(want.code, got.error.code) &&
    typeof got.error.message === 'string' &&
    (!want.data || canonical(want.data) === canonical(got.error.data))
  );
}

/** Whether every wanted answer has an answer of its own, in any order. */
export function assign(wants, gots) {
  const left = [...gots];
  for (const want of wants) {
    const at = left.findIndex((got) => matches(want, got));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return left.length === 0;
}
