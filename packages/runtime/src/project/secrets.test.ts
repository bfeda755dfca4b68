import { describe, expect, test } from 'vitest';
import { projectFolder } from '../testing/project-folder.ts';
import { mayBeSecret, openSecrets } from './secrets.ts';

describe('secrets', () => {
  test('come from the one source that is named, and every value is told once', async () => {
    using folder = projectFolder({ 'key.txt': 'from-file\n' });
    const told: [string, string][] = [];
    const config = {
      secrets: { A: { env: 'VAR_A' }, B: { file: `${folder.root}/key.txt` }, C: { env: 'UNSET' } },
      redact: ['OTHER', 'UNSET'],
    };
    const secrets = openSecrets(config, { VAR_A: 'from-env', OTHER: 'redacted' }, (...secret) =>
      told.push(secret),
    );
    expect(await secrets.configured('A')).toBe('from-env');
    expect(await secrets.configured('A')).toBe('from-env');
    expect(await secrets.configured('B')).toBe('from-file');
    expect(await secrets.configured('C')).toBeUndefined();
    expect(await secrets.configured('toString')).toBeUndefined();
    expect(told).toEqual([
      ['OTHER', 'redacted'],
      ['A', 'from-env'],
      ['B', 'from-file'],
    ]);
  });

  test('in a file that cannot be read are an error with name and path', async () => {
    const secrets = openSecrets({ secrets: { A: { file: '/nonexistent/key' } }, redact: [] }, {});
    await expect(secrets.configured('A')).rejects.toThrow(
      'the file of secret A cannot be read: /nonexistent/key (ENOENT)',
    );
  });
});

describe('whether a variable is a secret', () => {
  test.each([
    ['API_KEY', 'abcd'],
    ['DIFY_KEY', 'dify-1234'],
    ['HARNESS_T1', 's3cr3t-A'],
    ['DATABASE_URL', 'postgres://user:password@host/db'],
    ['ENDPOINT', 'https://host/path?token=abc'],
    ['PHRASE', 'correct horse battery staple'],
  ])('%s=%s is', (name, value) => {
    expect(mayBeSecret(name, value)).toBe(true);
  });

  test.each([
    ['API_KEY', ''],
    ['HOST', 'localhost'],
    ['LANG', 'en_US.UTF-8'],
    ['BASE_URL', 'http://127.0.0.1:8123/v1'],
    ['DATA', '/var/lib/data-1'],
    ['PORT', '1234567890'],
    ['SHORT', 'a-1'],
  ])('%s=%s is not', (name, value) => {
    expect(mayBeSecret(name, value)).toBe(false);
  });
});
