/** `chassis test approve`: what the recordings show is what is expected from now on. */
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { approveSpec } from '@chassis/testkit';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { replaceTest, testsAt, viewOf } from '../test-files.ts';

export async function testApprove({ args, globals, out }: Call): Promise<Ending> {
  const approved: string[] = [];
  const tests: object[] = [];
  for (const { file, spec, recording } of await testsAt(args, globals.cwd)) {
    const before = await readFile(file, 'utf8');
    const { text, changed, broken } = await approveSpec(before, spec, await viewOf(recording));
    const name = visible(relative(globals.cwd, file));
    if (changed.length > 0) await replaceTest(file, text);
    approved.push(file);
    tests.push({ file, changed, broken });
    out.line(
      changed.length === 0
        ? `${name} holds as it is`
        : `approved ${name}: ${changed.map(visible).join(', ')}`,
    );
    for (const path of broken)
      out.note(`${name}: ${visible(path)} is broken; a rule is for a person to change`);
  }
  return { result: { approved, tests } };
}
