/**
 * Bundles what a package publishes: a program that imports it loads a few files instead of one for each source.
 *
 * Promise: what is imported or started from outside keeps its path; code that looks for a file beside its own source finds it,
 * wherever the bundle has put that code. Nothing is minified, so that a stack trace still tells where it comes from; the
 * compiler's declarations stay as they are. Other packages stay outside, but for a few that every start needs: those come in,
 * with their licences.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/**
 * Small packages of many files, of which little is used, and that each start would look for one by one; and the few lines of
 * their compiler that compiled checks need.
 */
const TAKEN_IN = ['commander', 'fastest-levenshtein', 'js-yaml', 'semver', 'ajv/dist/runtime'];

/**
 * @param folder with compiled JavaScript, which the bundle replaces
 * @param faces paths in `folder` of what is imported from outside. Files that its code starts by their address are found
 * @returns names of the packages that have come in, and need no longer be installed
 */
export async function bundle(folder: string, faces: readonly string[]): Promise<readonly string[]> {
  const compiled = globSync('**/*.js', { cwd: folder }).map((name) => join(folder, name));
  const started = compiled.flatMap(filesStartedBy);
  const entries = new Set([...faces.map((name) => join(folder, name)), ...started]);
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries(
      [...entries].map((file) => [relative(folder, file).replace(/\.js$/, ''), file]),
    ),
    external: (id) => /^[^./]/.test(id) && !TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`)),
    platform: 'node',
    plugins: [placesOfSources(folder)],
    onLog(_level, { message }) {
      throw new Error(`bundling ${folder}: ${message}`);
    },
  });
  const { output } = await build.generate({
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name].js',
  });
  await build.close();
  for (const file of compiled) rmSync(file);
  const taken = new Map<string, string>();
  for (const part of output) {
    if (part.type !== 'chunk') throw new Error(`bundling ${folder}: unexpected ${part.fileName}`);
    mkdirSync(dirname(join(folder, part.fileName)), { recursive: true });
    writeFileSync(join(folder, part.fileName), part.code);
    for (const id of part.moduleIds) {
      const [, place, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id) ?? [];
      if (place !== undefined && name !== undefined) taken.set(name, place);
    }
  }
  if (taken.size > 0) writeFileSync(join(folder, 'THIRD-PARTY.txt'), licencesOf(taken));
  return [...taken.keys()];
}

function licencesOf(packages: ReadonlyMap<string, string>): string {
  const texts = [...packages]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, folder]) => {
      const [file] = globSync('{LICENSE,license,LICENSE.md}', { cwd: folder });
      if (file === undefined) throw new Error(`${name} has no licence that could be passed on`);
      return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    });
  return `Code of these packages is part of the files in this folder.\n\n${texts.join('\n----\n\n')}`;
}

/** Every `new URL(…, import.meta.url)` of compiled code; its first group is all up to the last argument. */
const addresses = /(new URL\((?:[^()]|\([^()]*\))*), import\.meta\.url\)/g;

/** Files of JavaScript that code starts as a worker or a child process, found by the addresses it makes of them. */
export function filesStartedBy(file: string): string[] {
  const addressed = [...readFileSync(file, 'utf8').matchAll(addresses)].map(([, address = '']) => address);
  return addressed
    .flatMap((address) => [...address.matchAll(/(['"])(\.{1,2}\/[^'"]+\.js)\1/g)])
    .map(([, , path = '']) => resolve(dirname(file), path))
    .filter((path) => existsSync(path));
}

/** Stands for the place of a source until it is known which file of the bundle its code goes to. */
const placeOf = '__place_of_source__';
const places = new RegExp(`${placeOf}\\("([^"]*)"(, "folder")?\\)`, 'g');

function placesOfSources(folder: string): Plugin {
  return {
    name: 'places-of-sources',
    transform(code, id) {
      const source = relative(folder, id);
      return code
        .replace(addresses, `$1, ${placeOf}("${source}"))`)
        .replaceAll('import.meta.dirname', `${placeOf}("${dirname(source)}", "folder")`);
    },
    renderChunk(code, { fileName }) {
      return code.replace(places, (_all, source: string, isFolder?: string) => {
        const path = relative(dirname(fileName), source);
        return isFolder ? `(import.meta.dirname + "/${path}")` : `new URL("${path}", import.meta.url)`;
      });
    },
  };
}
