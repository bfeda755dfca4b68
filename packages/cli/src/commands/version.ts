/** `chassis version`. */
import { FORMAT_VERSION } from '@chassis/journal';
import type { Call, Ending } from '../reference/spec.ts';
import { packageVersion } from '../version.ts';

export async function version({ out }: Call): Promise<Ending> {
  const chassis = packageVersion();
  out.line(`chassis ${chassis}, session log v${FORMAT_VERSION}, node ${process.versions.node}`);
  return { result: { chassis, log_format: FORMAT_VERSION, node: process.versions.node } };
}
