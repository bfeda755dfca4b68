/** Asks one question in a process of its own and prints the answer, or the error as JSON: `node ask-once.ts BASE_URL`. */
import { ask, load, problem, unload } from './session.ts';

await load(process.argv[2] ?? '', { own: { model: 'm', api_key: 'key' } });
const hello = [{ role: 'user', content: 'hello' }] as const;
const text = await ask(hello, { model: 'own' }).then(
  ({ response }) => response.message.content,
  async () => JSON.stringify((await problem(hello, { model: 'own' })).record()),
);
console.log(text);
await unload();
