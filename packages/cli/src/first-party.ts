/** Folders of the plugins that come with the command: searched last, so that a project's own of the same name wins. */
import { fileURLToPath } from 'node:url';

const packages = [
  '@chassis/agent',
  '@chassis/plugin-files',
  '@chassis/plugin-http',
  '@chassis/plugin-memory',
  '@chassis/plugin-openai-compatible',
  '@chassis/plugin-scripted',
  '@chassis/plugin-shell',
];

export function firstPartyFolders(): string[] {
  // A package's face stands in its src/ or dist/ folder, its manifest one above.
  return packages.map((name) => fileURLToPath(new URL('..', import.meta.resolve(name))));
}
