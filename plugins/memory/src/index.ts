/**
 * The `memory` plugin: what an agent puts there in one run, it finds in a later one of the same project.
 *
 * Promise: the file is made at the first use, not before; putting the same thing twice, also after a crash, leaves one entry.
 */
import { resolve } from 'node:path';
import { definePlugin } from '@chassis/sdk';
import { type Entries, openEntries, sqlite } from './store.ts';

let module: Awaited<ReturnType<typeof sqlite>> | undefined;
let file = '';
let entries: Entries | undefined;

function opened(): Entries {
  if (module === undefined) throw new Error('the memory is not loaded');
  entries ??= openEntries(module, file);
  return entries;
}

export default definePlugin({
  async on_load(config, { project }) {
    module = await sqlite();
    file = resolve(project, config.file as string);
  },
  on_shutdown() {
    entries?.close();
    entries = undefined;
  },
  memory: {
    memory: {
      search: ({ query, limit = 10 }) => ({ entries: opened().search(query, limit) }),
      async put({ text, tags = [], key }, ctx) {
        const name = key ?? ctx.idempotency_key.slice(0, 12);
        opened().put({
          key: name,
          text,
          tags,
          now: await ctx.now(),
          session: ctx.session,
          step: ctx.step,
        });
        return { key: name };
      },
    },
  },
});
