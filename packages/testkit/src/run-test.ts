/**
 * One recorded session as a test: the agent's code runs against the record, then the expectations are looked at.
 *
 * Promise: a test starts nothing but the agent's own plugin and writes nothing.
 */
import { Secrets, type SessionView } from '@chassis/journal';
import { type Divergence, type Registry, replay } from '@chassis/runtime';
import { checkSession, type Failure } from './check.ts';
import { normalised } from './normalise.ts';
import type { Spec } from './spec.ts';

export interface TestResult {
  readonly name: string;
  readonly file: string;
  readonly ok: boolean;
  readonly failures: readonly Failure[];
  /** Where the agent left the record, when it did. */
  readonly divergence?: Divergence;
  readonly steps: number;
}

export async function runTest(
  spec: Spec,
  file: string,
  view: SessionView,
  registry: Registry,
  signal: AbortSignal,
): Promise<TestResult> {
  const report = await replay(view, registry, new Secrets(), signal, {
    ...(spec.normalise.length === 0
      ? {}
      : { normalise: (text) => normalised(text, spec.normalise, view.header.workspace) }),
  });
  const { divergence } = report;
  const missed: Failure[] =
    divergence === undefined
      ? []
      : [
          {
            path: 'replay',
            message: `${divergence.message}${nearestText(divergence)}`,
            expected: divergence.expected,
            actual: divergence.actual,
          },
        ];
  const failures = [...missed, ...checkSession(view, spec)];
  return {
    name: spec.name,
    file,
    ok: failures.length === 0,
    failures,
    ...(divergence === undefined ? {} : { divergence }),
    steps: report.steps,
  };
}

function nearestText({ nearest }: Divergence): string {
  if (nearest === undefined) return '';
  const where = nearest.path === '' ? '' : ` at ${nearest.path}`;
  return `; the nearest recording is step ${nearest.step} (${nearest.name})${where}`;
}
