/**
 * Bundles what a package publishes: a program that imports it loads a few files instead of one for each source.
 *
 * Promise: what is imported or started from outside keeps its path; other packages stay outside, but for the helpers of compiled checks; code that looks for a
 * file beside its own source finds it, wherever the bundle has put that code. Nothing is minified, so that a stack trace
 * still tells where it comes from; the compiler's declarations stay as they are.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/**
 * @param folder with compiled JavaScript, which the bundle replaces
 * @param faces paths in `folder` of what is imported from outside. Files that its code starts by their address are found
 */
export async function bundle(folder: string, faces: readonly string[]): Promise<void> {
  const compiled = globSync('**/*.js', { cwd: folder }).map((name) => join(folder, name));
  const started = compiled.flatMap(filesStartedBy);
  const entries = new Set([...faces.map((name) => join(folder, name)), ...started]);
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries(
      [...entries].map((file) => [relative(folder, file).replace(/\.js$/, ''), file]),
    ),
    // Compiled checks need a few lines of their compiler; they do not load it for that.
    external: (id) => /^[^./]/.test(id) && !id.startsWith('ajv/dist/runtime/'),
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
  for (const part of output) {
    if (part.type !== 'chunk') throw new Error(`bundling ${folder}: unexpected ${part.fileName}`);
    mkdirSync(dirname(join(folder, part.fileName)), { recursive: true });
    writeFileSync(join(folder, part.fileName), part.code);
  }
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
