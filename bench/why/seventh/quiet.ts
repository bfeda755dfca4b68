/** Runs that fail for a reason that nothing earlier on the record explains: the last call is refused for reasons of its own. */
import { ask, fail, insist, isError, type Scenario } from '../world.ts';
import { hex, noiseTools, otherWork } from './noise.ts';

const refusals: readonly { name: string; task: string; tool: string; message: string; done: string }[] = [
  {
    name: 'service down',
    task: 'Publish the package.',
    tool: 'npm_publish',
    message: '503 Service Unavailable - PUT https://registry.internal/app',
    done: '+ app@2.4.1',
  },
  {
    name: 'change freeze',
    task: 'Merge the reviewed pull request.',
    tool: 'merge_pull_request',
    message: 'base branch is frozen until Monday by the release managers',
    done: 'merged',
  },
  {
    name: 'disk of the runner full',
    task: 'Build the image.',
    tool: 'docker_build',
    message: 'failed to copy files: write /var/lib/docker/tmp: no space left on device',
    done: 'naming to docker.io/library/app done',
  },
  {
    name: 'machine lost',
    task: 'Run the integration tests.',
    tool: 'run_tests',
    message: 'The runner has received a shutdown signal: spot instance reclaimed',
    done: '214 passed, 3 skipped',
  },
  {
    name: 'capacity of the cloud',
    task: 'Scale the node pool up by one.',
    tool: 'scale_node_pool',
    message: 'InsufficientInstanceCapacity: no capacity for m7i.large in this zone right now',
    done: 'desired 5, ready 5',
  },
  {
    name: 'lock held by a person',
    task: 'Apply the plan for the network.',
    tool: 'terraform_apply',
    message: 'Error acquiring the state lock: held by j.meyer@laptop since 09:12',
    done: 'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.',
  },
];

/** The mark on the last call is only there because a failed run must have one: nothing counts it. */
export const quiet: readonly Scenario[] = refusals.map(({ name, task, tool, message, done }) => ({
  cause: 'swallowed error',
  name,
  tell: (w) => ({
    task,
    patience: 2,
    tools: {
      ...noiseTools(w),
      get_build: { run: () => ({ id: w.int(1000, 9999), commit: hex(w), status: 'success', warnings: 0 }) },
      [tool]: { run: () => (w.broken ? fail(message, 'Unavailable') : done) },
    },
    *talk() {
      yield* ask('get_build', { branch: 'main' });
      yield* otherWork(w);
      const input = { ref: 'main' };
      const first = yield* ask(tool, input, 'call');
      if (isError(first)) yield* insist(tool, input);
      return 'Done.';
    },
  }),
}));
