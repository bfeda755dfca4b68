/** The commands that run an agent, or run it again. */
import { type CommandSpec, list, option } from './spec.ts';

const maxSteps = option('--max-steps <n>', 'stop the run after this many steps');
const approve = list('--approve <tool>', 'let this tool run without asking; "all" for every tool');
const script = option('--script <file>', 'play this script with the scripted model, offline');
const watch = option('--watch', 'take in changes of plugins while it runs');
const quiet = option('-q, --quiet', 'print the answer only');

export const running: readonly CommandSpec[] = [
  {
    name: 'run',
    args: '[task...]',
    about:
      'Run an agent on a task; without words the task is on stdin, and a word - stands for what is there.',
    options: [
      option('--session <id>', 'go on with this session: a new turn'),
      option('--model <ref,...>', 'the model, and after commas those to fall back on'),
      option('--title <text>', 'title of the session (default: the beginning of the task)'),
      option('--agent <name>', 'the agent (default: what the project says)'),
      script,
      option('--workspace <dir>', 'folder that the tools work in'),
      approve,
      maxSteps,
      watch,
      quiet,
    ],
    examples: [
      'run "Report the average order value of May"',
      'run --model deepseek/deepseek-chat,ollama/qwen3 "What changed here?"',
      'run --script demo.yaml "Say hello"',
      'run --session @last "And in June?"',
      'git diff | chassis run "Review this change:" - --quiet',
    ],
    load: async () => (await import('../commands/run.ts')).run,
  },
  {
    name: 'resume',
    args: '<id>',
    about: 'Go on with a session that crashed, was cancelled, or failed for a reason outside of it.',
    options: [
      script,
      approve,
      maxSteps,
      watch,
      quiet,
      option(
        '--force',
        "take over a lock of another machine, and open a damaged log: only when you know it's safe",
      ),
    ],
    examples: ['resume @last', 'resume k3f', 'resume @failed --approve write_file'],
    load: async () => (await import('../commands/resume.ts')).resume,
  },
  {
    name: 'fork',
    args: '<address>',
    about:
      'Branch a new session off at a step, with an edit of what that step answered or was asked; the original stays as it is.',
    options: [
      option('--at <step>', 'the step to branch off behind: a number, fail, cause or end (also as ID:STEP)'),
      list(
        '--set <path=json>',
        'change what the step answered (/output/…) or was asked (/input/…; it runs anew): a JSON Pointer and a JSON value',
      ),
      option('--message <text>', "other words of the user: the step's turn begins anew with them"),
      option('--run', 'run the fork at once; without it the fork is only created'),
      list('--model <ref,...>', 'another model from here on; several times for variants'),
      list('--param <key=value>', 'another parameter of the model from here on, such as temperature=0'),
      option(
        '--clock <time>',
        'what the clock of the harness shows when the fork goes on: 2026-03-01T02:00:00Z',
      ),
      option('--separate', 'give the fork a folder of its own, with the files as they were at the step'),
      option('--n <k>', 'run the fork k times, each in a folder of its own, and compare'),
      option('--verify <command>', "run this in each variant's folder; exit 0 is a pass"),
      option('--title <text>', 'title of the fork'),
      script,
      approve,
      quiet,
    ],
    examples: [
      "fork @failed:cause --set '/output/rows/3/amount=1249.90' --run",
      'fork k3f --at 4 --model deepseek/deepseek-reasoner --run',
      'fork k3f:2',
      'fork k3f:4 --plugin ../orders-2.0 --clock 2026-03-01T02:00:00Z --run',
      'fork k3f:3 --set \'/input/messages/0/content="Be brief."\' --param temperature=0 --run',
      'fork k3f:2 --model deepseek --model ollama/qwen3 --n 3 --verify "npm test"',
    ],
    load: async () => (await import('../commands/fork.ts')).fork,
  },
  {
    name: 'rewind',
    args: '<address>',
    about:
      'Go back to a step: a fork for the conversation, a folder of its own for the files; says what cannot be undone.',
    options: [
      option('--at <step>', 'the step to go back to: a number, fail, cause or end (also as ID:STEP)'),
      option('--what <part>', 'chat, files or both (default: both)'),
      option('--in-place', 'put the files back in the workspace itself, after keeping a copy of them'),
      option('--dry-run', 'only say what would change, and what cannot be undone'),
    ],
    examples: ['rewind k3f:4', 'rewind @failed:cause --what files --dry-run', 'rewind k3f:4 --in-place'],
    load: async () => (await import('../commands/rewind.ts')).rewind,
  },
  {
    name: 'replay',
    args: '<address>',
    about:
      "Run the agent's own code again with every answer taken from the record; exit 1 at the first difference.",
    options: [
      list('--live <name>', 'run this for real: model, tools, or the name of a model, tool or plugin'),
      list(
        '--dry <name>',
        'call this without changing anything: tools, or a name; what reads runs, what writes is answered from the record or refused',
      ),
      list('--except <name>', 'keep this from the record although its kind is live or dry'),
      option(
        '--files <which>',
        'live: the folder as it is (default); recorded: a copy of it with the files as they were when the session began',
      ),
      option(
        '--speed <n>',
        'strict replay at n times the pace of the record, step by step (default: at once)',
      ),
      option('--until <step>', 'stop behind this step (also as ID:STEP)'),
      option('--save', 'keep what --live made as a new session'),
      option('--workspace <dir>', "folder that live tools work in (default: the session's)"),
      list('--approve <tool>', 'let this live tool change things again; "all" for every tool'),
      script,
    ],
    examples: [
      'replay @last',
      'replay k3f:7 --json',
      'replay night.session.jsonl',
      'replay @last --speed 10',
      'replay @failed --live tools --except shell --save',
      'replay @last --live model --dry tools --files recorded',
      'replay k3f --live model --script other.yaml',
    ],
    load: async () => (await import('../commands/replay.ts')).replaySession,
  },
];
