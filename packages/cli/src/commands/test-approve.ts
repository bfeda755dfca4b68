/** `chassis test approve`: what the recordings show is what is expected from now on. */
import { relative } from 'node:path';
import { draftExpectations } from '@chassis/testkit';
import type { Call, Ending } from '../reference/spec.ts';
import { visible } from '../terminal/text.ts';
import { testsAt, viewOf, writeTest } from '../test-files.ts';

export async function testApprove({ args, globals, out }: Call): Promise<Ending> {
  const approved: string[] = [];
  for (const { file, spec, recording } of await testsAt(args, globals.cwd)) {
    const drafted = draftExpectations(await viewOf(recording));
    // What must not happen is a person's rule, and no run can show it: it stays.
    const { forbids } = spec.expect.tools ?? {};
    const tools = { ...drafted.tools, ...(forbids === undefined ? {} : { forbids }) };
    const never = spec.expect.never === undefined ? {} : { never: spec.expect.never };
    await writeTest(file, { ...spec, expect: { ...drafted, tools, ...never } });
    approved.push(file);
    out.line(`approved ${visible(relative(globals.cwd, file))}`);
  }
  return { result: { approved } };
}
