import { expect, test } from 'vitest';
import { asPlugin, pluginAtFault } from './own-process-guard.ts';

test('process.exit inside a plugin is an error of the plugin, also later in what it started', async () => {
  const later = asPlugin('greedy', '/plugins/greedy', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.exit(7);
  });
  await expect(later).rejects.toThrow('plugin greedy called process.exit(7) inside the harness');
});

test("an error is a plugin's when its stack leads into the folder of one that was loaded", () => {
  asPlugin('late', '/plugins/late', () => {});
  const theirs = Object.assign(new Error('late'), {
    stack: 'Error: late\n    at Timeout (file:///plugins/late/index.ts?digest=ab:3:9)',
  });
  const ours = Object.assign(new Error('ours'), {
    stack: 'Error: ours\n    at run (file:///chassis/gate.ts:3:9)',
  });
  expect(pluginAtFault(theirs)?.plugin).toBe('late');
  expect(pluginAtFault(ours)).toBeUndefined();
});
