/** The serving side of the stdio scenarios, in a process of its own: `node child.ts NAME`. */
import { implementation } from './implementation.ts';

const { serve } = await implementation(process.argv[2] ?? 'floor');
serve(process.stdin, process.stdout);
process.stdin.on('end', () => process.exit());
