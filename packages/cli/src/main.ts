/**
 * The `chassis` command: understands the command line, loads the one command that was called, and ends with its exit code.
 *
 * Promise: whatever a command throws becomes one line on stderr and an exit code from the table; stdout is written out
 * before the process ends; nothing that was left open keeps it alive.
 */
import { setFlagsFromString } from 'node:v8';
import { ExitCode, toChassisError } from '@chassis/errors';
import { report } from './failure.ts';
import { Output } from './output.ts';
import { understand } from './program.ts';
import { reference } from './reference/index.ts';
import type { Call } from './reference/spec.ts';
import { visible, visibleLines } from './terminal/text.ts';

// A compiler thread that asks for a collection while the process ends waits for ever, and the process with it
// (nodejs/node#54918). Here nothing runs long enough to miss what those threads compile.
setFlagsFromString('--no-concurrent-recompilation');

const argv = process.argv.slice(2);
// Before anything is known for certain: an error in the command line itself is told in the form asked for.
const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
if (words.includes('--no-color')) {
  process.env.NO_COLOR = '1';
  delete process.env.FORCE_COLOR;
}
const debug = words.includes('--debug') || Boolean(process.env.CHASSIS_DEBUG);
const out = new Output({ json: words.includes('--json') });

async function main(): Promise<number> {
  try {
    const invocation = await understand(argv, (text) => out.help(text));
    if (invocation === undefined) {
      out.record({ type: 'result', ok: true, exit: ExitCode.ok });
      return ExitCode.ok;
    }
    const { spec, args, options, globals } = invocation;
    const action = await spec.load();
    const ending = await action({ args, options, globals, out, reference } as Call<never>);
    const exit = ending?.exit ?? ExitCode.ok;
    out.record({ type: 'result', ok: exit === ExitCode.ok, exit, ...ending?.result });
    return exit;
  } catch (thrown) {
    return report(thrown, out, debug);
  }
}

// A stray failure, most likely in a plugin inside this process, must not take the run and its record with it.
process.on('unhandledRejection', (reason) => {
  out.note(`chassis: something failed that nobody waited for: ${visible(toChassisError(reason).message)}`);
  if (debug) out.note(visibleLines(String((reason as Error | undefined)?.stack ?? reason)));
});
process.on('uncaughtException', (error) => {
  void stray(error);
});

/** A plugin in this process that throws where nobody waits hurts itself only; anything else is our own fault, and the end. */
async function stray(error: Error): Promise<void> {
  const { pluginAtFault } = await import('@chassis/runtime');
  const fault = pluginAtFault(error);
  if (fault === undefined) process.exit(report(error, out, debug));
  out.note(
    `chassis: plugin ${fault.plugin} failed outside of any call, at ${visible(fault.place)}: ${visible(error.message)}`,
  );
}

let exit = await main();
await out.flushed();
if (out.failure !== undefined && exit === ExitCode.ok) {
  out.note(`chassis: ${out.failure.message}`);
  exit = ExitCode.failed;
}
process.exit(exit);
