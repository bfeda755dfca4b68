/** The commands that keep recorded sessions as regression tests. */
import { type CommandSpec, list, option } from './spec.ts';

const mode = option(
  '--mode <mode>',
  'none: replay only (default); once: record what is missing; rewrite: record anew',
);
const approve = list(
  '--approve <tool>',
  'with --mode once or rewrite: let this tool run without asking; "all" for every tool',
);

export const testing: readonly CommandSpec[] = [
  {
    name: 'test add',
    args: '<id>',
    about:
      'Keep a session, or a bundle file, as a test: a bundle, and a YAML file of what is expected of it.',
    options: [
      option('--name <text>', 'name of the test and its files (default: the title of the session)'),
      option('--dir <dir>', 'folder of the tests (default: tests/agents)'),
      option('--force', 'replace a test of that name'),
    ],
    examples: ['test add @last', 'test add k3f --name monthly-report', 'test add run.session.jsonl'],
    load: async () => (await import('../commands/test-add.ts')).testAdd,
  },
  {
    name: 'test run',
    args: '[path...]',
    about:
      'Replay the recorded sessions and check what is expected of them; exit 1 when one fails or cannot be read.',
    options: [option('--reporter <form>', 'text (default), tap, junit or github'), mode, approve],
    examples: ['test run', 'test run tests/agents/report.test.yaml', 'test run --reporter junit > tests.xml'],
    load: async () => (await import('../commands/test-run.ts')).testRun,
  },
  {
    name: 'test approve',
    args: '<path...>',
    about:
      'Replace the expectations that a recording no longer meets by what it shows; its diff is the review.',
    examples: ['test approve tests/agents/report.test.yaml'],
    load: async () => (await import('../commands/test-approve.ts')).testApprove,
  },
  {
    name: 'bisect',
    args: '<good> [bad]',
    about:
      'Find the first change that makes a good run go wrong: a step, a block of the prompt, a plugin, or a version of one.',
    options: [
      option(
        '--over <what>',
        'steps (default), prompt, plugins (as recorded against as they are now), or versions of one plugin',
      ),
      option('--of <plugin>', 'with --over versions: whose versions'),
      list('--folder <dir>', 'a version of it, the good one first'),
      option(
        '--commits <good..bad>',
        'its versions in git: every commit of this range that touched its folder',
      ),
      option(
        '--test <command>',
        'exit 0 is good; CHASSIS_ANSWER, CHASSIS_OUTCOME and CHASSIS_SESSION say what ran',
      ),
      option('--outcome', 'a run that ends as ok is good'),
      option('--script <file>', 'play this script with the scripted model, offline'),
      list('--approve <tool>', 'let this tool run without asking; "all" for every tool'),
      option('--keep', 'keep the sessions and folders of the trials; without it they are removed'),
    ],
    examples: [
      'bisect k3f q7x --outcome',
      `bisect k3f q7x --test 'test "$CHASSIS_ANSWER" = 256.44'`,
      'bisect k3f --over plugins --test ./check.sh',
      'bisect k3f --over versions --of orders --commits v1.2..HEAD --outcome',
    ],
    load: async () => (await import('../commands/bisect.ts')).bisect,
  },
];
