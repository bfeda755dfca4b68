/** The commands that set up a project and look at its parts. */
import { type CommandSpec, list, option } from './spec.ts';

const python = option('--python', 'write it in Python instead of TypeScript');

export const projects: readonly CommandSpec[] = [
  {
    name: 'demo',
    about: 'The incident, offline: a run fails, is explained, forked with the fix, and both are replayed.',
    examples: ['demo'],
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  {
    name: 'init',
    args: '[dir]',
    about: 'Make a project with one plugin that runs at once, offline.',
    options: [python],
    examples: ['init', 'init my-agent --python'],
    load: async () => (await import('../commands/init.ts')).init,
  },
  {
    name: 'plugin ls',
    about: 'List the plugins of the project with their state, and why one cannot be used.',
    options: [option('--static', 'from the manifests alone: no code of a plugin runs')],
    examples: ['plugin ls', 'plugin ls --static', 'plugin ls --json'],
    load: async () => (await import('../commands/plugin-ls.ts')).pluginLs,
  },
  {
    name: 'plugin show',
    args: '<name>',
    about: 'Show one plugin: where it is, what it offers, what it may do, how that is enforced.',
    examples: ['plugin show files'],
    load: async () => (await import('../commands/plugin-show.ts')).pluginShow,
  },
  {
    name: 'plugin check',
    args: '<path-or-name>',
    about:
      'Check a manifest and its schemas, then start the plugin, once it is trusted, and stop it again; exit 1 when something is wrong.',
    options: [option('--static', 'run no code of the plugin')],
    examples: ['plugin check plugins/orders', 'plugin check ../cloned --static'],
    load: async () => (await import('../commands/plugin-check.ts')).pluginCheck,
  },
  {
    name: 'plugin test',
    args: '<path-or-name>',
    about:
      'Run the conformance kit against a real plugin: its hooks, its tools that change nothing, unknown calls, cancellation, its end.',
    options: [
      list('--call <tool=json>', 'call this tool with these arguments too, whatever it changes'),
      option('--with <dir,...>', 'folders of plugins that it needs'),
    ],
    examples: ['plugin test plugins/orders', `plugin test plugins/orders --call 'fetch_orders={"page":1}'`],
    load: async () => (await import('../commands/plugin-test.ts')).pluginTest,
  },
  {
    name: 'plugin bisect',
    args: '[command...]',
    about:
      'Find which of many plugins breaks the start, or a command that fails with them: exit 0 when it is found.',
    options: [option('--timeout <s>', 'how long one try may take (default: 60)')],
    examples: ['plugin bisect', 'plugin bisect -- npx chassis run --script check.yaml "Go"'],
    load: async () => (await import('../commands/plugin-bisect.ts')).pluginBisect,
  },
  {
    name: 'plugin new',
    args: '<name>',
    about: "Write a new plugin into the project's plugins folder.",
    options: [python],
    examples: ['plugin new orders', 'plugin new weather --python'],
    load: async () => (await import('../commands/plugin-new.ts')).pluginNew,
  },
  {
    name: 'plugin pins',
    args: '[name]',
    about:
      'Show tools whose definition changed since their first use, and so are suspended; exit 1 when there are any.',
    options: [option('--accept', 'take the tools of this plugin as they are now')],
    examples: ['plugin pins', 'plugin pins github --accept'],
    load: async () => (await import('../commands/plugin-pins.ts')).pluginPins,
  },
  {
    name: 'plugin reload',
    args: '<name>',
    about:
      'Read a plugin again and swap it in wherever this project runs; calls under way finish on the old one. Ends the rest of one that was put to rest.',
    examples: ['plugin reload orders', 'plugin reload orders --trust'],
    load: async () => (await import('../commands/plugin-reload.ts')).pluginReload,
  },
  {
    name: 'plugin unload',
    args: '<name>',
    about: 'Take a plugin out wherever this project runs, once its calls are done.',
    options: [option('--force', 'even if another plugin needs it')],
    examples: ['plugin unload orders'],
    load: async () => (await import('../commands/plugin-unload.ts')).pluginUnload,
  },
  {
    name: 'skill ls',
    about: 'List the skills of the project: those that a run shows to its model, and why one cannot be used.',
    examples: ['skill ls', 'skill ls --json'],
    load: async () => (await import('../commands/skill.ts')).skillLs,
  },
  {
    name: 'skill show',
    args: '<name>',
    about: 'Print what a skill says, and which files it has.',
    examples: ['skill show refunds'],
    load: async () => (await import('../commands/skill.ts')).skillShow,
  },
  {
    name: 'trust',
    args: '[dir]',
    about: 'Show which plugins a project brings, and allow their code to run.',
    examples: ['trust', 'trust ../cloned --trust'],
    load: async () => (await import('../commands/trust.ts')).trustProject,
  },
  {
    name: 'config show',
    about: 'Print the configuration that is in force; secrets are never resolved.',
    options: [option('--origin', 'with the file and line that each value came from')],
    examples: ['config show', 'config show --origin', 'config show --config limits.steps=5'],
    load: async () => (await import('../commands/config-show.ts')).configShow,
  },
  {
    name: 'doctor',
    about: 'Check the set-up: Node, Python, the project, its plugins, keys, the store.',
    examples: ['doctor', 'doctor --json'],
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    name: 'rpc',
    args: '<address> <method> [params]',
    about: 'Call a JSON-RPC method of a server and print its result.',
    options: [option('--timeout <ms>', 'how long to wait for the answer (default: 60000)')],
    examples: ['rpc unix:/run/tools.sock rpc.discover', `rpc tcp://127.0.0.1:7000 tool.add '{"a":1,"b":2}'`],
    load: async () => (await import('../commands/rpc.ts')).rpc,
  },
  {
    name: 'completion',
    args: '<shell>',
    about: 'Print a completion script for bash, zsh or fish.',
    examples: [
      'completion bash > ~/.local/share/bash-completion/completions/chassis',
      'completion fish | source',
    ],
    load: async () => (await import('../commands/completion.ts')).completion,
  },
  {
    name: 'version',
    about: 'Print the version of Chassis, of the log format, and of Node.',
    examples: ['version', 'version --json'],
    load: async () => (await import('../commands/version.ts')).version,
  },
];
