/**
 * How imports of plugins are resolved.
 *
 * It lets a plugin that stands anywhere on disk import `@chassis/sdk` without installing it: what its own folder
 * cannot resolve is taken from this installation. A copy that the plugin brings along wins.
 * Parts of a plugin carry the digest of the whole, so that a reload sees changed parts too.
 *
 * Importing this module has that effect, so that a child process gets it by `node --import`. Its address may name a compile
 * cache (`?compile-cache=FOLDER`), which the process then uses.
 */
import { enableCompileCache, registerHooks } from 'node:module';

const OURS = new Set(['@chassis/sdk', '@chassis/errors', '@chassis/types']);

const cache = new URL(import.meta.url).searchParams.get('compile-cache');
if (cache !== null) enableCompileCache(cache);

registerHooks({
  resolve(specifier, context, next) {
    try {
      const found = next(specifier, context);
      return { ...found, url: withDigest(found.url, specifier, context.parentURL) };
    } catch (error) {
      if (!OURS.has(specifier)) throw error;
      return { url: import.meta.resolve(specifier), shortCircuit: true };
    }
  },
});

function withDigest(url: string, specifier: string, parent: string | undefined): string {
  const mark = parent === undefined ? -1 : parent.lastIndexOf('?digest=');
  if (mark < 0 || !specifier.startsWith('.') || url.includes('?') || url.includes('/node_modules/')) {
    return url;
  }
  return `${url}${parent?.slice(mark)}`;
}
