/**
 * What it costs a step to have its file changes on record: one file of a workspace is rewritten, and the capture finds it.
 * The floor is a bare walk that asks the system for every entry twice, before and after. CPU time; medians of pairs.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspaceCapture } from '../../plugins/shell/src/capture.ts';

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

function cpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function walk(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path);
    else lstatSync(path, { bigint: true });
  }
}

console.log('files    a step, ms    bare walk, ms    ratio    first step, ms');
for (const files of [100, 500, 1_000, 5_000]) {
  const root = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
  for (let n = 0; n < files; n++) {
    const folder = join(root, `folder-${n % 50}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${n}.txt`), `line ${n}\n`.repeat(200));
  }
  const capture = new WorkspaceCapture(root);
  const step = (round: number) => () => {
    capture.begin();
    writeFileSync(join(root, 'folder-0', 'file-0.txt'), `round ${round}\n`);
    if (capture.end().length !== 1) throw new Error('the change was not found');
  };
  const first = cpu(step(-1));
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < 30; round++) {
    floor.push(
      cpu(() => {
        walk(root);
        writeFileSync(join(root, 'folder-0', 'file-0.txt'), `floor ${round}\n`);
        walk(root);
      }),
    );
    ours.push(cpu(step(round)));
  }
  const [a, b] = [median(ours), median(floor)];
  console.log(
    [String(files).padEnd(5), a.toFixed(2), b.toFixed(2), (a / b).toFixed(2), first.toFixed(1)].join('     '),
  );
  rmSync(root, { recursive: true });
}
