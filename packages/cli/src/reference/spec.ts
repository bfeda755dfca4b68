/** What a command is, as data: its help, its options, and where its code is. Nothing here is loaded until it is called. */
import type { Output } from '../output.ts';

export interface Globals {
  readonly json: boolean;
  /** Folder that relative paths and the search for the project start at, absolute. */
  readonly cwd: string;
  /** The `.chassis` folder, absolute, when it was given. */
  readonly store?: string;
  readonly config: readonly string[];
  readonly plugins: readonly string[];
  readonly trust: boolean;
  /** Nothing but what comes with Chassis is started. */
  readonly safeMode: boolean;
  readonly debug: boolean;
}

export interface Call<O extends object = Record<never, never>> {
  /** The words after the command's name. */
  readonly args: readonly string[];
  readonly options: O;
  readonly globals: Globals;
  readonly out: Output;
  /** All commands, for the one that writes about them. */
  readonly reference: Reference;
}

/** What a command ends with: the exit code (0 without one), and members of the last record of `--json`. */
export interface Ending {
  readonly exit?: number;
  readonly result?: object;
}

export type Action = (call: Call<never>) => Promise<Ending | undefined>;

export interface OptionSpec {
  /** `-o, --output <file>`. */
  readonly flags: string;
  readonly about: string;
  /** May be given several times. */
  readonly many?: true;
}

export interface CommandSpec {
  /** `run`, `plugin ls`. */
  readonly name: string;
  /** `[task...]`, `<id>`. */
  readonly args?: string;
  readonly about: string;
  readonly options?: readonly OptionSpec[];
  /** Command lines without `chassis `. */
  readonly examples: readonly string[];
  load(): Promise<Action>;
}

export interface Group {
  readonly title: string;
  readonly commands: readonly CommandSpec[];
}

export interface Reference {
  readonly groups: readonly Group[];
  /** Taken by every command, before or after its name. */
  readonly globals: readonly OptionSpec[];
}

export const option = (flags: string, about: string): OptionSpec => ({ flags, about });
export const list = (flags: string, about: string): OptionSpec => ({ flags, about, many: true });
