/** Ordinary work around a fault: searches, reads, logs, and a page that times out once and is fetched again. */
import { ask, askAll, fail, generator, type ScenarioTool, type Talk, type World } from '../world.ts';

const files = [
  'src/server.ts',
  'src/queue/worker.ts',
  'pkg/api/router.go',
  'lib/retry.py',
  'ops/values.yaml',
];
const symbols = ['parseConfig', 'RetryPolicy', 'TODO', 'handleSignal', 'MAX_CONNS', 'deprecated'];
const namespaces = ['default', 'payments', 'edge', 'monitoring'];

/** Tools that every agent of the set has beside its own. */
export function noiseTools(world: World): { readonly [name: string]: ScenarioTool } {
  const random = generator(world.int(1, 2 ** 30));
  const int = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const hash = () => int(0x1000000, 0xfffffff).toString(16);
  const tried = new Set<string>();
  return {
    grep: {
      run: ({ pattern, path }) =>
        int(0, 3) === 0
          ? 'No matches found'
          : Array.from(
              { length: int(1, 4) },
              () => `${path}:${int(3, 420)}:  const x${int(1, 99)} = ${pattern}(options);`,
            ).join('\n'),
    },
    view_file: {
      run: ({ path, start_line }) => ({
        path,
        start_line,
        content: `export function step${int(10, 99)}(input: string) {\n  return input.slice(${int(1, 9)});\n}\n`,
      }),
    },
    git_log: {
      run: ({ path }) =>
        `${hash()} fix: guard against empty batch in ${path} (#${int(100, 999)})\n${hash()} chore: bump deps (#${int(100, 999)})`,
    },
    kubectl_get_pods: {
      run: ({ namespace }) => ({
        namespace,
        items: Array.from({ length: int(1, 3) }, () => ({
          name: `web-${hash()}`,
          phase: 'Running',
          restarts: int(0, 2),
        })),
      }),
    },
    fetch_runbook: {
      run: ({ slug }) => {
        if (tried.size === 0) {
          tried.add(String(slug));
          fail('request to wiki.internal timed out after 10000 ms');
        }
        return `# Runbook ${slug}\n1. Check the dashboard.\n2. Page the owner if the error rate stays high.`;
      },
    },
  };
}

/** Other work of about as many steps as the distance. Half of the longer runs have a page that has to be fetched twice. */
export function* otherWork(world: World): Talk<void> {
  const flaky = world.distance > 12 && world.int(0, 1) === 0;
  for (let done = 0, index = 0; done + 1 < world.distance; index++) {
    if (flaky && index === 2) {
      const slug = `oncall-${world.word()}`;
      yield* ask('fetch_runbook', { slug });
      yield* ask('fetch_runbook', { slug });
      done += 4;
      continue;
    }
    const path = world.pick(files);
    const calls = [
      { tool: 'grep', input: { pattern: world.pick(symbols), path } },
      { tool: 'view_file', input: { path, start_line: world.int(1, 300) } },
      { tool: 'git_log', input: { path } },
      { tool: 'kubectl_get_pods', input: { namespace: world.pick(namespaces) } },
    ];
    const first = world.int(0, 3);
    const some =
      world.distance - done > 3 && index % 3 === 1 ? [calls[first], calls[(first + 1) % 4]] : [calls[first]];
    const made = some.filter((call) => call !== undefined);
    yield* askAll(made);
    done += made.length + 1;
  }
}

/** A hash of a commit or an image as hexadecimal digits. */
export function hex(world: World, length = 12): string {
  return Array.from({ length }, () => world.int(0, 15).toString(16)).join('');
}
