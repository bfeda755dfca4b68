/** Recorded tests on disk: `NAME.test.yaml` beside `NAME.session.jsonl`. */
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ChassisError, toChassisError } from '@chassis/errors';
import { exportBundle, type SessionView, type Store, writeBundleFile } from '@chassis/journal';
import { formatSpec, parseSpec, type Spec } from '@chassis/testkit';
import { readBundle } from './bundle.ts';
import { usage } from './failure.ts';

export const testFolder = 'tests/agents';
const ending = '.test.yaml';

export interface TestFile {
  readonly file: string;
  readonly spec: Spec;
  /** The bundle, absolute. */
  readonly recording: string;
}

/** A file that is to be a test and cannot be one. */
export interface BrokenTest {
  readonly file: string;
  readonly error: ChassisError;
}

/**
 * The tests at paths: files as they are, folders with everything below.
 * @throws InvalidParams for a path that is not there, and with the mistakes of all files
 */
export async function testsAt(paths: readonly string[], cwd: string): Promise<readonly TestFile[]> {
  const { tests, broken } = await readTests(paths, cwd);
  if (broken.length > 0) throw mistakesIn(broken);
  return tests;
}

/** The same, with what cannot be read beside what can. @throws InvalidParams for a path that is not there */
export async function readTests(
  paths: readonly string[],
  cwd: string,
): Promise<{ readonly tests: readonly TestFile[]; readonly broken: readonly BrokenTest[] }> {
  const files: string[] = [];
  for (const path of paths.length === 0 ? [testFolder] : paths) {
    const full = resolve(cwd, path);
    const found = await stat(full).catch(() => undefined);
    if (found === undefined)
      throw usage(`there is nothing at ${path}: chassis test add ID makes a test in ${testFolder}`);
    if (!found.isDirectory()) files.push(full);
    else
      for (const name of await readdir(full, { recursive: true }))
        if (name.endsWith(ending)) files.push(join(full, name));
  }
  if (files.length === 0) throw usage(`there is no ${ending} below ${paths.join(', ') || testFolder}`);
  const tests: TestFile[] = [];
  const broken: BrokenTest[] = [];
  for (const file of [...new Set(files)].sort()) {
    try {
      tests.push(await readTest(file));
    } catch (error) {
      broken.push({ file, error: toChassisError(error) });
    }
  }
  return { tests, broken };
}

/** All of them in one error. */
export function mistakesIn(broken: readonly BrokenTest[]): ChassisError {
  const errors = broken.map(({ error }) => error);
  const [only] = errors;
  if (only !== undefined && errors.length === 1) return only;
  return usage(errors.map(({ message }) => message).join('\n'), {
    issues: errors.flatMap(({ data }) => (data as { issues?: readonly object[] } | undefined)?.issues ?? []),
  });
}

async function readTest(file: string): Promise<TestFile> {
  const spec = parseSpec(await readFile(file, 'utf8'), file);
  return { file, spec, recording: resolve(dirname(file), spec.recording) };
}

export async function writeTest(file: string, spec: Spec): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await replaceTest(file, await formatSpec(spec));
}

/** Replaced in one step, so that an interrupted write leaves the old one. */
export async function replaceTest(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

export async function writeRecording(store: Store, id: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeBundleFile(path, exportBundle(store, id));
}

export async function viewOf(recording: string): Promise<SessionView> {
  const { store, id } = await readBundle(recording);
  return (await store.reader(id)).view();
}

/** A name that is a file name everywhere. */
export function fileName(text: string): string {
  const name = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return name === '' ? 'session' : name;
}
