import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Counts the tests of a run; a file that does not load counts as a failed test. Prints the plain line
 * `N passed, N failed, N skipped`, or leaves the counts in the file CHASSIS_TEST_COUNTS for a caller that prints it.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    const skipped: string[] = [];
    for (const module of modules) {
      if (module.state() === 'failed' && module.children.size === 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
    }
    const file = process.env.CHASSIS_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify({ passed, failed, skipped }));
    else process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
  }
}
