/**
 * A plugin's argv as it is started: no shell, no splitting, no expansion but one: `${folder}` is the plugin's
 * folder. `node` means the Node that runs the harness, with the SDK within reach.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

const SDK_RESOLUTION = new URL(
  import.meta.url.endsWith('.ts') ? './sdk-resolution.ts' : './sdk-resolution.js',
  import.meta.url,
).href;

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is the placeholder itself
const FOLDER = '${folder}';

/**
 * What a plugin's Node loads before the plugin. With the harness's compile cache, if it has one: the SDK is compiled once,
 * not by each plugin again.
 *
 * @param cache the harness's own cache folder, as Node tells it
 */
export function preload(cache: string | undefined = getCompileCacheDir()): string {
  if (cache === undefined) return SDK_RESOLUTION;
  const url = new URL(SDK_RESOLUTION);
  // Node adds a folder of its own for each of its versions.
  url.searchParams.set('compile-cache', dirname(cache));
  return url.href;
}

/** @param resolution the module that brings the SDK within reach */
export function commandOf(command: readonly string[], folder: string, resolution = SDK_RESOLUTION): string[] {
  const [program = '', ...rest] = command.map((part) => part.replaceAll(FOLDER, folder));
  if (program !== 'node') return [program, ...rest];
  return [process.execPath, '--import', resolution, ...rest];
}
