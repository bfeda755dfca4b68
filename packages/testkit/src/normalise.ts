/** Text without what differs from run to run and means nothing: folders, durations, ids. */
import type { Normaliser } from './spec.ts';

const duration = /\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|min|minutes|h|hours)\b/g;
const id = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{12,64}\b/gi;

/** @param workspace the folder that stands as `<workspace>` with `paths` */
export function normalised(text: string, normalisers: readonly Normaliser[], workspace: string): string {
  let result = text;
  if (normalisers.includes('paths') && workspace.length > 1)
    result = result.replaceAll(workspace, '<workspace>');
  if (normalisers.includes('ids')) result = result.replace(id, '<id>');
  if (normalisers.includes('durations')) result = result.replace(duration, '<duration>');
  return result;
}
