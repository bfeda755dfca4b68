/**
 * Plays the scenario with a fault in it: `node child.ts ROOT BUNDLE AT FAULT`. Says on stdout what was acknowledged, and at the
 * end how it came out and which operations there were.
 */
import { readFileSync, writeSync } from 'node:fs';
import { arm, type Fault } from './fs-faults.ts';
import { scenario } from './scenario.ts';

const [root = '', bundle = '', at = '0', fault = 'EIO'] = process.argv.slice(2);
const lines = readFileSync(bundle, 'utf8').trimEnd().split('\n');
const say = (line: string): void => void writeSync(1, `${line}\n`);
// What cannot be compressed stays plain and says so.
process.removeAllListeners('warning');
const calls = arm(root, Number(at), fault as Fault);
try {
  await scenario(root, lines, (word, session, seq) => say(`${word} ${session} ${seq}`));
  say(`done ${calls.join(' ')}`);
} catch (error) {
  say(`failed ${JSON.stringify([(error as Error).name, (error as Error).message])}`);
}
