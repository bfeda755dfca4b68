/**
 * Records into a session until it is killed. Says on stdout that it runs, then what was acknowledged: each number was on disk
 * when it was printed. Arguments: root, session id, seed, and after how many steps it ends if nobody kills it.
 */
import { writeSync } from 'node:fs';
import { fileStore, type Writer } from '../src/index.ts';
import { header, Run } from './build.ts';

writeSync(1, 'runs\n');
const [root = '', id = '', seed = '1', steps = 'Infinity'] = process.argv.slice(2);
const store = fileStore({ root, segmentBytes: 6000 });

let state = Number(seed);
/** A small linear congruential generator: the same seed, the same run. */
function random(): number {
  state = (state * 1103515245 + 12345) & 0x7fffffff;
  return state / 0x7fffffff;
}

async function writer(): Promise<Writer> {
  try {
    return await store.create(header(id));
  } catch {
    return store.open(id);
  }
}

const recording = await writer();
writeSync(1, `${recording.view.lastSeq}\n`);
const run = new Run(recording);
for (let step = 0; step < Number(steps); step++) {
  run.tool({ text: 'é\u2028'.repeat(Math.floor(random() * (random() < 0.1 ? 8000 : 60))) });
  if (random() < 0.6) {
    await recording.barrier();
    writeSync(1, `${recording.view.lastSeq}\n`);
  } else if (random() < 0.3) {
    await new Promise((resolve) => setTimeout(resolve, random() * 8));
  }
}
await recording.close();
await store.close();
