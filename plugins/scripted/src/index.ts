/**
 * The `scripted` plugin: a model that is none. It plays a script; see README.md for the script, `select.ts` for
 * which turn plays.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { definePlugin } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { play } from './play.ts';
import { readScript, type Script } from './script.ts';

let script: Script | undefined;

/** @throws InvalidParams that finds fault with the configuration when the file is not there, with the file when it is broken */
async function scriptAt(path: string): Promise<Script> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return readScript(path);
  throw new ChassisError('InvalidParams', `there is no script ${path}`, { data: { config: '/script' } });
}

export default definePlugin({
  on_load: async (config: JsonObject, ctx) => {
    const file = config.script;
    script = typeof file === 'string' ? await scriptAt(resolve(ctx.project, file)) : undefined;
  },
  models: {
    '*': async (request, ctx) => {
      if (script === undefined) {
        throw new ChassisError(
          'Unavailable',
          'the scripted model has no script: give --script FILE, or set plugins.scripted.config.script in chassis.yaml',
        );
      }
      return play(script, request, ctx);
    },
  },
});
