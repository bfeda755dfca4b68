/** The commands that look at what is on record. */
import { type CommandSpec, option } from './spec.ts';

export const looking: readonly CommandSpec[] = [
  {
    name: 'ls',
    about: 'List sessions, newest first.',
    options: [
      option('--failed', 'only those that failed'),
      option(
        '--outcome <name>',
        'only this outcome: ok, failed, cancelled, interrupted, running, ready (nothing has run in it yet), unreadable',
      ),
      option('--grep <text>', 'only those whose title or record holds this text'),
      option('--model <name>', 'only those of this model'),
      option('--since <when>', 'only those active since then: 2d, 12h, 2026-11-30'),
      option('-n, --limit <n>', 'at most this many'),
    ],
    examples: ['ls', 'ls --failed --since 2d', 'ls --grep "N/A" --limit 5', 'ls --json'],
    load: async () => (await import('../commands/ls.ts')).ls,
  },
  {
    name: 'search',
    args: '<text...>',
    about: 'Find words in the titles, messages, tool names, errors and notes of all sessions.',
    options: [option('-n, --limit <n>', 'at most this many (default: 50)')],
    examples: ['search order average', 'search \'"disk quota exceeded"\'', 'search fetch_orders --json'],
    load: async () => (await import('../commands/search.ts')).search,
  },
  {
    name: 'show',
    args: '<address>',
    about: 'Show a session, one of its steps, or one value of a step.',
    options: [option('--step <n>', 'the step: a number, fail, cause or end (also as ID:STEP)')],
    examples: [
      'show @last',
      'show k3f:4',
      "show 'k3f:4#/output/rows/3'",
      'show @failed:fail',
      'show night.session.jsonl',
    ],
    load: async () => (await import('../commands/show.ts')).show,
  },
  {
    name: 'log',
    args: '<id>',
    about: 'Print the events of a session, one a line.',
    options: [
      option('-f, --follow', 'wait for more, until nobody writes to the session any more or Ctrl-C'),
      option('--from <seq>', 'first event'),
      option('--to <seq>', 'last event'),
      option('--last <n>', 'the last so many events'),
      option('--raw', 'the lines exactly as they are on record'),
    ],
    examples: ['log @last', 'log -f k3f', 'log k3f --last 10', 'log k3f --raw | jq .type'],
    load: async () => (await import('../commands/log.ts')).log,
  },
  {
    name: 'state',
    args: '<address>',
    about: 'Show the conversation and the files as they were after a step; no code runs.',
    options: [
      option('--at <step>', 'the step: a number, fail, cause or end (also as ID:STEP; default: the end)'),
    ],
    examples: ['state k3f --at 4', 'state @failed:cause', 'state @last --json'],
    load: async () => (await import('../commands/state.ts')).state,
  },
  {
    name: 'why',
    args: '<address>',
    about: 'Name the step where the bad value was born, and the chain from there to the failure.',
    options: [
      option(
        '--against <address>',
        'a run of the same task that went well: where this one first differs weighs most',
      ),
      option('--prompt', 'print a text that another model can be asked with'),
    ],
    examples: [
      'why @failed',
      'why k3f:7',
      "why 'k3f:7#/input/total'",
      'why k3f --against q7x',
      'why k3f --prompt',
      'why night.session.jsonl --json',
    ],
    load: async () => (await import('../commands/why.ts')).why,
  },
  {
    name: 'blame',
    args: '<address>',
    about: 'Follow one value back to where it was born, or forward to where it went.',
    options: [
      option('--value <text>', 'the text to look for in the step, instead of a pointer'),
      option('--forward', 'where the value went: every later place that carries it'),
    ],
    examples: [
      "blame 'k3f:7#/input/values/2'",
      'blame k3f:7 --value "1.249,90"',
      "blame 'k3f:3#/output/text@10-18'",
      "blame 'k3f:2#/output/rows/3/amount' --forward",
    ],
    load: async () => (await import('../commands/blame.ts')).blame,
  },
  {
    name: 'context',
    args: '<address>',
    about: 'Show what the model saw at a step: blocks with tokens, what is new, cached, or gone.',
    options: [
      option(
        '--step <n>',
        'the step: a number, fail, cause or end (also as ID:STEP; default: the last request)',
      ),
    ],
    examples: ['context k3f:5', 'context @failed:cause', 'context @last --json'],
    load: async () => (await import('../commands/context.ts')).context,
  },
  {
    name: 'diff',
    args: '<a> <b>',
    about: 'Compare two sessions step by step; exit 1 when they differ.',
    examples: ['diff k3f q7x', 'diff @failed @last --json'],
    load: async () => (await import('../commands/diff.ts')).diff,
  },
  {
    name: 'cost',
    args: '<id>',
    about: 'Tokens and money of a session, by model.',
    examples: ['cost @last', 'cost k3f --json'],
    load: async () => (await import('../commands/cost.ts')).cost,
  },
];
