/**
 * Makes publishable tarballs of everything in packages/ and plugins/ that is not private, from what is compiled in dist/.
 *
 * In the repository `exports` and manifests point at src/*.ts, and npm offers no way to override them when it packs.
 * So each package is staged in dist-pack/ with those paths rewritten and its modules bundled, looked over by publint, and
 * packed from there.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';
import { MANIFEST_SCHEMA } from '../packages/runtime/src/plugin/manifest-schema.ts';
import { CONFIG_SCHEMA } from '../packages/runtime/src/project/config-schema.ts';
import { SPEC_SCHEMA } from '../packages/testkit/src/spec-schema.ts';
import { bundle, filesStartedBy } from './bundle.ts';
import { compileChecks } from './compiled-checks.ts';

interface PackageJson {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly scripts?: unknown;
}

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist-pack');

/** Folders of the repository that ship inside a package, under the same path. */
const shipped: Readonly<Record<string, readonly string[]>> = {
  '@chassis/runtime': ['python'],
  '@chassis/cli': ['examples/incident'],
};
const never = new Set(['node_modules', '__pycache__', '.chassis', 'test']);

rmSync(out, { recursive: true, force: true });
const problems: string[] = [];
const stages: string[] = [];
for (const file of globSync('{packages,plugins}/*/package.json', { cwd: root }).sort()) {
  const pkg = JSON.parse(readFileSync(join(root, file), 'utf8')) as PackageJson;
  if (pkg.private) continue;
  const stage = await stagePackage(dirname(file), pkg);
  problems.push(...(await problemsOf(stage, pkg)));
  stages.push(stage);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else execFileSync('npm', ['pack', '--silent', '--pack-destination', out, ...stages], { stdio: 'inherit' });

/** @returns the folder that holds exactly what is published */
async function stagePackage(folder: string, pkg: PackageJson): Promise<string> {
  const from = join(root, folder);
  const stage = join(out, folder);
  mkdirSync(stage, { recursive: true });
  const files = new Set([...(pkg.files ?? []), 'plugin.yaml', 'README.md']);
  for (const name of files) copy(join(from, name), join(stage, name));
  copy(join(root, 'dist', folder, 'src'), join(stage, 'dist'));
  copy(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  for (const name of shipped[pkg.name] ?? []) {
    if (!existsSync(join(root, name)))
      problems.push(`${pkg.name}: ${name} is to ship with it and is not there`);
    copy(join(root, name), join(stage, name));
    files.add(name);
  }
  const dist = join(stage, 'dist');
  if (pkg.name === '@chassis/runtime')
    compileChecks(join(dist, 'own-checks.js'), {
      checkManifest: MANIFEST_SCHEMA,
      checkConfig: CONFIG_SCHEMA,
    });
  if (pkg.name === '@chassis/testkit') compileChecks(join(dist, 'own-checks.js'), { checkSpec: SPEC_SCHEMA });
  const launchers = globSync('bin/*.mjs', { cwd: stage }).map((name) => join(stage, name));
  const faces = Object.values(pkg.exports ?? {}).map((source) => join(stage, built(source)));
  const taken = await bundle(
    dist,
    [...faces, ...launchers.flatMap(filesStartedBy)].map((face) => relative(dist, face)),
  );
  compileExamples(join(stage, 'examples'));
  for (const file of globSync('**/plugin.yaml', { cwd: stage })) rewriteManifest(join(stage, file));

  const { devDependencies: _tools, scripts: _verbs, dependencies: needed = {}, ...rest } = pkg;
  const dependencies = Object.fromEntries(Object.entries(needed).filter(([name]) => !taken.includes(name)));
  const exports = Object.fromEntries(
    Object.entries(pkg.exports ?? {}).map(([name, source]) => [
      name,
      { types: built(source).replace(/\.js$/, '.d.ts'), default: built(source) },
    ]),
  );
  const staged = {
    ...rest,
    dependencies,
    exports,
    files: [...files].filter((name) => existsSync(join(stage, name))),
  };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(staged, null, 2)}\n`);
  return stage;
}

function copy(from: string, to: string): void {
  if (existsSync(from)) cpSync(from, to, { recursive: true, filter: (path) => !never.has(basename(path)) });
}

/** `./src/x.ts` → `./dist/x.js`. */
function built(source: string): string {
  return source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, '.js');
}

function rewriteManifest(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/^(module:\s*["']?)(\.\/[^\s"'#]+\.ts)/m, (_all, key, path) => key + built(path)),
  );
}

/** Node strips types from sources, but refuses to below node_modules, where a published example is. */
function compileExamples(folder: string): void {
  for (const name of globSync('**/*.ts', { cwd: folder })) {
    const file = join(folder, name);
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ESNext,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    writeFileSync(file.replace(/\.ts$/, '.js'), outputText);
    rmSync(file);
  }
}

async function problemsOf(stage: string, pkg: PackageJson): Promise<string[]> {
  const staged = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as Record<string, unknown>;
  const { messages } = await publint({ pkgDir: stage, pack: false });
  const found = messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => `${pkg.name}: ${formatMessage(message, staged, { color: false })}`);
  // The compiler rewrites imports, but not the paths that code builds by itself.
  for (const file of globSync('dist/**/*.js', { cwd: stage })) {
    const path = /new URL\(\s*['"`]([^'"`]+\.ts)['"`]/.exec(readFileSync(join(stage, file), 'utf8'))?.[1];
    if (path) found.push(`${pkg.name}: ${file} points at ${path}, which is not published`);
  }
  return found;
}
