/** `chassis rm`: deletes sessions. All names are looked up before the first one goes. */
import { usage } from '../failure.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { sessionOf } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { bytes } from '../terminal/units.ts';

export async function rm({ args, options, globals, out }: Call<{ force?: true }>): Promise<Ending> {
  const store = existingStore(globals);
  const ids = new Set<string>();
  for (const text of args) {
    const { id, address } = await sessionOf(text, store);
    if (address.step !== undefined || address.pointer !== undefined)
      throw usage(`${text}: a session is deleted as a whole, give its id alone`);
    ids.add(id);
  }
  let freed = 0;
  for (const id of ids) {
    const size = await store.remove(id, { force: options.force === true });
    freed += size;
    out.line(`deleted ${id}, ${bytes(size)}`);
    out.record({ type: 'deleted', session: id, bytes: size });
  }
  await store.close();
  return { result: { deleted: [...ids], bytes: freed } };
}
