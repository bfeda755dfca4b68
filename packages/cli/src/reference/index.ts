/** Every command, in the order of the help. */
import { keeping } from './keeping.ts';
import { looking } from './looking.ts';
import { projects } from './projects.ts';
import { running } from './running.ts';
import { list, option, type Reference } from './spec.ts';
import { testing } from './testing.ts';

const groups: Reference['groups'] = [
  { title: 'Run:', commands: running },
  { title: 'Look:', commands: looking },
  { title: 'Test:', commands: testing },
  { title: 'Keep:', commands: keeping },
  { title: 'Set up:', commands: projects },
];

const globals: Reference['globals'] = [
  option('--json', 'every line on stdout is JSON; the last one tells success or failure'),
  option('--store <dir>', "the .chassis folder, as a path or file: URL (default: the project's)"),
  option('--cwd <dir>', 'work as if started in this folder'),
  list('--config <key=value>', 'override one value of the configuration'),
  list('--plugin <path>', 'add a plugin, or a folder of plugins'),
  option('--trust', "let the project's own plugins run, now and later"),
  option('--safe-mode', 'start only the plugins that come with Chassis'),
  option('--debug', 'stack traces and log lines of plugins'),
  option('--no-color', 'no colours'),
];

export const reference: Reference = { groups, globals };
