/** Every command, in the order of the help. */
import { keeping } from './keeping.ts';
import { looking } from './looking.ts';
import { projects } from './projects.ts';
import { running } from './running.ts';
import type { CommandSpec, OptionSpec } from './spec.ts';
import { list, option } from './spec.ts';

export interface Group {
  readonly title: string;
  readonly commands: readonly CommandSpec[];
}

export const groups: readonly Group[] = [
  { title: 'Run:', commands: running },
  { title: 'Look:', commands: looking },
  { title: 'Keep:', commands: keeping },
  { title: 'Set up:', commands: projects },
];

/** Taken by every command, before or after its name. */
export const globalOptions: readonly OptionSpec[] = [
  option('--json', 'every line on stdout is JSON; the last one tells success or failure'),
  option('--store <dir>', "the .chassis folder, as a path or file: URL (default: the project's)"),
  option('--cwd <dir>', 'work as if started in this folder'),
  list('--config <key=value>', 'override one value of the configuration'),
  list('--plugin <path>', 'add a plugin, or a folder of plugins'),
  option('--trust', "let the project's own plugins run, now and later"),
  option('--debug', 'stack traces and log lines of plugins'),
  option('--no-color', 'no colours'),
];
