/**
 * Lets a plugin that stands anywhere on disk import `@chassis/sdk` without installing it: what its own folder
 * cannot resolve is taken from this installation. A copy that the plugin brings along wins.
 *
 * Importing this module has that effect, so that a child process gets it by `node --import`.
 */
import { registerHooks } from 'node:module';

const OURS = new Set(['@chassis/sdk', '@chassis/errors', '@chassis/types']);

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!OURS.has(specifier)) throw error;
      return { url: import.meta.resolve(specifier), shortCircuit: true };
    }
  },
});
