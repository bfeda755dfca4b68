import { defineConfig } from 'vitest/config';

const full = process.env.CHASSIS_FULL === '1';

// `unit`: beside the code, in one process per worker, so tests must not leak module state.
// `e2e`: in test/ folders, with real processes and files. Files named *.long.test.ts exist only in the full share.
export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', ...(full ? [] : ['**/*.long.test.ts'])],
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,plugins}/*/src/**/*.test.ts'],
          isolate: false,
          testTimeout: full ? 400_000 : 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: [
            '{packages,plugins}/*/test/**/*.test.ts',
            'scripts/test/**/*.test.ts',
            'examples/**/*.test.ts',
          ],
          testTimeout: full ? 400_000 : 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
