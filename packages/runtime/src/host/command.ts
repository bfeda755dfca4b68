/**
 * A plugin's argv as it is started: no shell, no splitting, no expansion but one: `${folder}` is the plugin's
 * folder. `node` means the Node that runs the harness, with the SDK within reach.
 */
export const SDK_RESOLUTION = new URL(
  import.meta.url.endsWith('.ts') ? './sdk-resolution.ts' : './sdk-resolution.js',
  import.meta.url,
).href;

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is the placeholder itself
const FOLDER = '${folder}';

export function commandOf(command: readonly string[], folder: string): string[] {
  const [program = '', ...rest] = command.map((part) => part.replaceAll(FOLDER, folder));
  if (program !== 'node') return [program, ...rest];
  return [process.execPath, '--import', SDK_RESOLUTION, ...rest];
}
