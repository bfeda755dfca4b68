/** Sessions in single files. */
import type { Store, Verification } from '@chassis/journal';
import { usage } from './failure.ts';

export async function readBundle(path: string): Promise<{ readonly store: Store; readonly id: string }> {
  throw usage(`${path}: this version reads no bundles`);
}

export async function verifyBundle(path: string): Promise<Verification> {
  throw usage(`${path}: this version reads no bundles`);
}
