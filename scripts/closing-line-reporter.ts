import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Counts the tests of a run; a file that fails as a whole (it does not load, a hook throws) counts as one. Prints the plain line
 * `N passed, N failed, N skipped`, or leaves the counts in the file CHASSIS_TEST_COUNTS for a caller that prints it.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    const skipped: string[] = [];
    for (const module of modules) {
      let inside = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') inside++;
        else skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
      failed += module.state() === 'failed' ? Math.max(inside, 1) : inside;
    }
    const file = process.env.CHASSIS_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify({ passed, failed, skipped }));
    else process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
  }
}
