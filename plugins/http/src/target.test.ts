import { ErrorCode } from '@chassis/errors';
import { describe, expect, test } from 'vitest';
import { isSpecial, Targets } from './target.ts';

const check = (url: string, allowed: string[] = []): Promise<void> =>
  new Targets(allowed).check(new URL(url));
const denied = { code: ErrorCode.PermissionDenied };

describe('which hosts may be reached', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0.0.0.0/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://app.localhost:3000/',
  ])('%s is refused', async (url) => {
    await expect(check(url)).rejects.toMatchObject(denied);
  });

  test.each(['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isSpecial(address)).toBe(false);
  });

  test('a name is checked by the addresses it has, again when it is connected to', async () => {
    const { lookup } = new Targets([]);
    const error = await new Promise((resolve) => {
      lookup('localhost', { all: true }, (problem) => resolve(problem));
    });
    expect(error).toMatchObject({ ...denied, data: { host: 'localhost' } });
    const addresses = await new Promise((resolve, reject) => {
      new Targets(['localhost']).lookup('localhost', { all: true }, (problem, found) =>
        problem === null ? resolve(found) : reject(problem),
      );
    });
    expect(addresses).toEqual(
      expect.arrayContaining([{ address: expect.any(String), family: expect.any(Number) }]),
    );
  });

  test('the configuration can name hosts, ports and domains', async () => {
    await check('http://127.0.0.1:8080/', ['127.0.0.1']);
    await check('http://127.0.0.1:8080/', ['127.0.0.1:8080']);
    await check('https://localhost/', ['localhost:443']);
    await check('http://a.b.localhost/', ['*.localhost']);
    await check('http://[::1]:99/', ['[::1]']);
    await check('http://[::1]/', ['::1']);
    await expect(check('http://127.0.0.1:8081/', ['127.0.0.1:8080'])).rejects.toMatchObject(denied);
    await expect(check('http://localhost/', ['*.localhost'])).rejects.toMatchObject(denied);
  });

  test('other protocols and credentials are no valid input', async () => {
    for (const url of [
      'file:///etc/passwd',
      'ftp://x/',
      'data:text/plain,x',
      'http://user:pass@example.com/',
    ]) {
      const error = await check(url).catch((e) => e);
      expect(error.code).toBe(ErrorCode.InvalidParams);
      expect(error.message).not.toContain('pass@');
    }
  });
});
