/**
 * The versions of one plugin that a bisection looks through: folders, or the commits of a range that touched its folder.
 *
 * Promise: nothing is checked out; a commit is unpacked into a folder of its own below `.chassis` and removed at the end.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { SessionView } from '@chassis/journal';
import { usage } from '../failure.ts';
import { storeFolder } from '../store.ts';
import { type OpenWorkbench, openWorkbench } from '../workbench.ts';
import { type Bench, type Change, type Plan, withLive } from './bisect-plans.ts';

export interface Versions {
  readonly of?: string;
  readonly folder?: readonly string[];
  readonly commits?: string;
}

/** One version: what it is called, and its folder once it is asked for. */
interface Version extends Change {
  folder(): Promise<string>;
}

interface Found {
  readonly versions: readonly Version[];
  readonly close: () => Promise<void>;
}

const run = promisify(execFile);

/** With which version does the good run go wrong? The first one is what was good. */
export async function overVersions(
  at: Bench,
  good: SessionView,
  options: Versions,
  opened: OpenWorkbench,
): Promise<Plan> {
  const { of } = options;
  if (of === undefined) throw usage('versions of which plugin? --of NAME');
  const used = [...new Set(good.steps.flatMap(({ plugin }) => (plugin === null ? [] : [plugin.name])))];
  if (!used.includes(of))
    throw usage(`--of ${of}: the session used no such plugin, only ${used.join(', ') || 'none'}`);
  if ((options.folder === undefined) === (options.commits === undefined))
    throw usage('which versions? --folder DIR for each, the good one first, or --commits GOOD..BAD');
  const { versions, close } =
    options.commits === undefined
      ? foldersOf(options.folder ?? [], at)
      : await commitsOf(options.commits, of, at);
  if (versions.length < 2) throw usage(`there is only one version of ${of} to look at`);
  return {
    changes: versions.slice(1),
    close,
    async run(changes) {
      const version = versions[changes] as Version;
      const plugins = [await version.folder(), ...at.globals.plugins];
      const bench = await openWorkbench({ ...opened, globals: { ...at.globals, plugins } });
      try {
        return await withLive({ ...at, bench }, good, [of], true);
      } finally {
        await bench.close();
      }
    },
  };
}

function foldersOf(folders: readonly string[], { globals }: Bench): Found {
  const versions = folders.map((given) => {
    const folder = resolve(globals.cwd, given);
    if (!existsSync(join(folder, 'plugin.yaml')))
      throw usage(`--folder ${given}: there is no plugin.yaml in it`);
    return { what: given, folder: async () => folder };
  });
  return { versions, close: async () => {} };
}

async function commitsOf(range: string, of: string, { bench, globals }: Bench): Promise<Found> {
  const [from = '', to = ''] = range.split('..');
  if (from === '' || to === '' || range.includes('...'))
    throw usage(`--commits ${range}: write GOOD..BAD, for example v1.2..HEAD`);
  const plugin = bench.project.catalogue.find(of)?.folder;
  if (plugin === undefined) throw usage(`--of ${of}: this project has no folder of that plugin`);
  const git = async (...args: string[]): Promise<string> => {
    try {
      return (await run('git', ['-C', plugin, ...args], { maxBuffer: 1 << 28 })).stdout.trim();
    } catch (thrown) {
      const { stderr = '', message } = thrown as { stderr?: string; message: string };
      throw usage(`git ${args[0]}: ${stderr.trim().split('\n')[0] || message}`);
    }
  };
  const listed = await git('log', '--reverse', '--format=%H%x09%s', '--end-of-options', range, '--', '.');
  const base = await git('log', '-1', '--format=%H%x09%s', '--end-of-options', from, '--');
  const place = join(storeFolder(globals), 'versions');
  await mkdir(place, { recursive: true, mode: 0o700 });
  const home = await mkdtemp(join(place, `${of}-`));
  const close = () => rm(home, { recursive: true, force: true });
  const versions = [base, ...listed.split('\n').filter(Boolean)].map((line) => {
    const [commit = '', ...subject] = line.split('\t');
    return {
      what: `${of} at ${commit.slice(0, 12)} ${subject.join(' ')}`.trim(),
      folder: async () => {
        const folder = join(home, commit);
        if (existsSync(folder)) return folder;
        const archive = join(home, `${commit}.tar`);
        // From within a folder git packs that folder alone, with paths that begin there.
        await git('archive', '--format=tar', `--output=${archive}`, commit);
        await mkdir(folder);
        await run('tar', ['-xf', archive, '-C', folder]);
        return folder;
      },
    };
  });
  return { versions, close };
}
