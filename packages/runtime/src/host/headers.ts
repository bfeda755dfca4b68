/**
 * The headers of a plugin that is reached by an address: what its manifest says, then what the configuration says.
 *
 * Promise: a header is sent whole or the plugin does not start; no value appears in an error. A manifest reaches only the
 * secrets and variables that its permissions name.
 */
import type { ManifestSource } from '../plugin/manifest.ts';
import type { PluginBlock } from '../project/config.ts';
import { expand, type Lookup, PlaceholderError } from '../project/placeholders.ts';

/** Where a header that cannot be sent was written. */
export type HeaderOrigin = 'manifest' | 'configuration';

export class HeaderError extends Error {
  readonly origin: HeaderOrigin;
  /** JSON Pointer inside `headers`. */
  readonly path: string;

  constructor(origin: HeaderOrigin, path: string, message: string) {
    super(message);
    this.origin = origin;
    this.path = path;
  }
}

/** @returns lower-case names; @throws HeaderError */
export async function buildHeaders(
  { manifest }: ManifestSource,
  block: Pick<PluginBlock, 'headers'>,
  lookup: Lookup,
): Promise<Record<string, string>> {
  return {
    ...(await expanded('manifest', manifest.headers, lookup)),
    ...(await expanded('configuration', block.headers, lookup)),
  };
}

async function expanded(
  origin: HeaderOrigin,
  written: Readonly<Record<string, string>>,
  lookup: Lookup,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(written)) {
    const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    let value: string;
    try {
      value = (await expand(text, lookup)) as string;
    } catch (error) {
      if (error instanceof PlaceholderError) throw new HeaderError(origin, path, error.message);
      throw error;
    }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new HeaderError(origin, path, `the header ${name} has a character that HTTP does not take`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
