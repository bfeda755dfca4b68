/**
 * The layers, as a check: imports point downwards only.
 *
 *   cli → agent → runtime → journal, jsonrpc, schema, sdk → errors
 *   analyze → journal; plugins → sdk → jsonrpc
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
const allowed = {
  types: [],
  errors: [],
  jsonrpc: [],
  schema: ['errors'],
  journal: ['errors', 'types'],
  analyze: ['errors', 'types', 'journal'],
  sdk: ['errors', 'types', 'jsonrpc'],
  runtime: ['errors', 'types', 'jsonrpc', 'journal', 'schema', 'sdk', 'analyze'],
  agent: ['errors', 'types', 'journal', 'sdk', 'runtime', 'analyze'],
  testkit: ['errors', 'types', 'journal', 'schema', 'runtime', 'analyze'],
  cli: ['errors', 'types', 'jsonrpc', 'journal', 'schema', 'sdk', 'runtime', 'agent', 'analyze', 'testkit'],
};
const testFiles = '(\\.test\\.ts$|/test/)';

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...Object.entries(allowed).map(([name, below]) => ({
      name: `layer-${name}`,
      severity: 'error',
      from: { path: `^packages/${name}/src`, pathNot: testFiles },
      to: { path: `^(packages|plugins)/(?!(${[name, ...below].join('|')})/)` },
    })),
    {
      name: 'plugins-import-the-sdk-only',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/src', pathNot: testFiles },
      to: { path: '^(packages|plugins)/', pathNot: '^(packages/(sdk|errors|schema|types)/|plugins/$1/)' },
    },
    {
      name: 'public-face-only',
      comment: 'A package is reached through its index.ts, or that of a room it exports, never past it.',
      severity: 'error',
      from: { path: '^(packages|plugins)/([^/]+)/' },
      to: {
        path: '^(packages|plugins)/[^/]+/src/',
        pathNot: ['^$1/$2/', '/src/index\\.ts$', '/runtime/src/project/index\\.ts$'],
      },
    },
    {
      name: 'source-needs-no-development-package',
      severity: 'error',
      from: { path: '^(packages|plugins)/[^/]+/src', pathNot: testFiles },
      to: { dependencyTypes: ['npm-dev'], pathNot: '@types/' },
    },
    {
      name: 'declared-packages-only',
      severity: 'error',
      from: { path: '^(packages|plugins)/[^/]+/src', pathNot: testFiles },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['/dist/', '^bench/', '^dist-pack/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
