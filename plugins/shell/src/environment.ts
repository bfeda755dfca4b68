/** The environment of a command: built from a list of names, never inherited. */

const ALWAYS = ['PATH', 'HOME', 'LANG', 'TZ'];

/** @param names further variables that the configuration lets through; one that is not set is left out */
export function environment(
  names: readonly string[],
  from: { readonly [name: string]: string | undefined } = process.env,
): { [name: string]: string } {
  const built: { [name: string]: string } = { TERM: 'dumb' };
  for (const name of [...ALWAYS, ...names]) {
    const value = from[name];
    if (value !== undefined) built[name] = value;
  }
  return built;
}
