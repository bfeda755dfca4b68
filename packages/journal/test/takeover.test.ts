import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileStore } from '../src/index.ts';
import { collect, folder, header } from './build.ts';

/** Opens a session at a moment that all contenders share, says how it went, and holds on until its stdin ends. */
const CONTENDER = `
  import { fileStore } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))};
  const [root, name] = process.argv.slice(1);
  process.stdout.write('ready\\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  try {
    const writer = await fileStore({ root }).open('s');
    writer.append('note.added', { text: name, author: name });
    await writer.barrier();
    process.stdout.write('won\\n');
    process.stdin.once('data', async () => {
      await writer.close();
      process.exit(0);
    });
  } catch (error) {
    process.stdout.write(error.name + '\\n');
    process.exit(0);
  }`;

test('of many that take over a dead session at the same moment, one does', async () => {
  for (let round = 0; round < (process.env.CHASSIS_FULL ? 4 : 2); round++) {
    using dir = folder();
    const store = fileStore({ root: dir.path });
    const writer = await store.create(header('s'));
    const lock = join(dir.path, 'sessions', 's', 'lock');
    const dead = { ...JSON.parse(readFileSync(lock, 'utf8')), started: '0', nonce: 'dead' };
    await writer.close();
    writeFileSync(lock, JSON.stringify(dead));
    const contenders = Array.from({ length: 6 }, (_, i) => {
      const child = spawn(
        process.execPath,
        ['--input-type=module-typescript', '-e', CONTENDER, dir.path, `c${i}`],
        {
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      );
      let text = '';
      const said = (count: number): Promise<string> =>
        new Promise((resolve) => {
          const look = (): void => {
            const lines = text.split('\n');
            if (lines.length > count) resolve(lines[count - 1] as string);
          };
          child.stdout.on('data', (piece: Buffer) => {
            text += piece.toString();
            look();
          });
          look();
        });
      return { child, said };
    });
    await Promise.all(contenders.map(({ said }) => said(1)));
    for (const { child } of contenders) child.stdin.write('go\n');
    const outcomes = await Promise.all(contenders.map(({ said }) => said(2)));
    expect(outcomes.toSorted()).toEqual(['Conflict', 'Conflict', 'Conflict', 'Conflict', 'Conflict', 'won']);
    const winner = outcomes.indexOf('won');
    contenders[winner]?.child.stdin.write('end\n');
    await once(contenders[winner]?.child as never, 'exit');
    expect(await store.verify('s')).toMatchObject({ ok: true, events: 2 });
    expect((await collect((await store.reader('s')).events()))[1]?.data).toMatchObject({
      text: `c${winner}`,
    });
    expect(readdirSync(join(dir.path, 'sessions', 's')).sort()).toEqual(['head.json', 'log']);
    await store.close();
  }
});
