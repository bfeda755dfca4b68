/**
 * What a manifest that breaks some rule still says about itself: its name and the names it would have offered.
 * Used only to answer "why is this tool not there?" with the broken manifest. Never throws.
 */
import { join } from 'node:path';
import { readDocument } from '@chassis/schema';
import { type Criticality, MANIFEST_FILE } from './manifest.ts';
import { PLUGIN_NAME } from './manifest-schema.ts';

export interface Claims {
  readonly name?: string;
  readonly criticality?: Criticality;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly agents: readonly string[];
}

export async function claimsOf(folder: string): Promise<Claims> {
  try {
    const { value } = await readDocument(join(folder, MANIFEST_FILE));
    const written = (value ?? {}) as Record<string, unknown>;
    const { name, criticality } = written;
    return {
      ...(typeof name === 'string' && new RegExp(PLUGIN_NAME).test(name) ? { name } : {}),
      ...(criticality === 'required' || criticality === 'guard'
        ? { criticality }
        : criticality === undefined && namesIn(written.policies).length > 0
          ? { criticality: 'guard' as const }
          : {}),
      tools: [
        ...namesIn(written.tools),
        ...namesIn(written.memory).flatMap((memory) => [`${memory}_search`, `${memory}_put`]),
      ],
      models: namesIn(written.models),
      agents: namesIn(written.agents),
    };
  } catch {
    return { tools: [], models: [], agents: [] };
  }
}

function namesIn(section: unknown): string[] {
  if (!Array.isArray(section)) return [];
  return section
    .map((item: unknown) => (typeof item === 'string' ? item : (item as { name?: unknown } | null)?.name))
    .filter((name) => typeof name === 'string');
}
