/**
 * Secrets by reference.
 *
 * Promise: a value is read when it is needed, from the one source that the configuration names; whoever opened
 * the secrets is told every value that was handed out, so that it can be kept out of every record. Names
 * appear in errors, values never.
 */
import { readFile } from 'node:fs/promises';
import { ChassisError } from '@chassis/errors';
import type { Config } from './config.ts';

export type OnSecret = (name: string, value: string) => void;

export interface Secrets {
  /** The value of a name under `secrets:`; undefined when there is no such name or its variable is unset. */
  configured(name: string): Promise<string | undefined>;
  /** A variable of the harness's own environment. It counts as a secret unless it plainly is none. */
  variable(name: string): string | undefined;
  /** Declares a value secret. */
  note(name: string, value: string): void;
  /** The same for a configuration that was read anew: nothing that was told is told again. */
  under(config: SecretNames): Secrets;
  /** From now on reads as that configuration says. */
  adopt(config: SecretNames): void;
}

type SecretNames = Pick<Config, 'secrets' | 'redact'>;

export function openSecrets(
  config: SecretNames,
  env: Readonly<Record<string, string | undefined>>,
  onSecret: OnSecret = () => {},
): Secrets {
  const told = new Map<string, string>();
  const note = (name: string, value: string): void => {
    if (value === '' || told.get(name) === value) return;
    told.set(name, value);
    onSecret(name, value);
  };
  const reading = (first: SecretNames): Secrets => {
    let current = first;
    const redact = (): void => {
      for (const name of current.redact) note(name, env[name] ?? '');
    };
    redact();
    return {
      note,
      async configured(name) {
        const source = Object.hasOwn(current.secrets, name) ? current.secrets[name] : undefined;
        if (source === undefined) return undefined;
        const value = 'env' in source ? env[source.env] : await fileSecret(name, source.file);
        if (value !== undefined) note(name, value);
        return value === '' ? undefined : value;
      },
      variable(name) {
        const value = env[name];
        if (value !== undefined && mayBeSecret(name, value)) note(name, value);
        return value;
      },
      under: reading,
      adopt(next) {
        current = next;
        redact();
      },
    };
  };
  return reading(config);
}

async function fileSecret(name: string, path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ChassisError(
      'InvalidParams',
      `the file of secret ${name} cannot be read: ${path} (${reason})`,
      {
        cause,
      },
    );
  }
}

/**
 * Whether a variable's value has to be kept out of records. A list of names would miss what it does not list,
 * so anything counts that is not plainly harmless: short, a number, a word, a path, an address without
 * credentials.
 */
export function mayBeSecret(name: string, value: string): boolean {
  if (/KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|AUTH|COOKIE|PRIVATE/i.test(name)) return value.length >= 4;
  if (value.length < 8) return false;
  if (/^[A-Za-z]+$/.test(value) && value.length < 20) return false;
  if (/^[-+]?\d+(\.\d+)?$/.test(value)) return false;
  if (/^(\/|\.{1,2}\/|~\/|[A-Za-z]:\\)/.test(value)) return false;
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/@?#]*([/][^@?#]*)?$/i.test(value)) return false;
  return !/^[a-z]{2,3}_[A-Z]{2}(\.[A-Za-z0-9-]+)?$/.test(value);
}
