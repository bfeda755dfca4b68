/** Signed bundles, and sessions of other tools that are taken in like our own. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  checkingKey,
  exportBundle,
  fileStore,
  type Importer,
  importBundle,
  importSessions,
  memoryStore,
  readBundleFile,
  signingKey,
  verifyBundle,
  writeBundleFile,
} from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';

const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }) as string;
const ann = generateKeyPairSync('ed25519');
const eve = generateKeyPairSync('ed25519');

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function signed(): Promise<string[]> {
  const store = memoryStore();
  const writer = await store.create(header('s'));
  new Run(writer).cycles(2).tool({ text: 'large '.repeat(3000) });
  await writer.close();
  return collect(exportBundle(store, 's', { sign: signingKey(pem(ann.privateKey)) }));
}

test('a signed bundle is trusted with the right key, and every other case has an answer of its own', async () => {
  const lines = await signed();
  expect(await signed()).toHaveLength(lines.length);
  const key = checkingKey(pem(ann.publicKey));
  expect(await verifyBundle(from(lines), key)).toMatchObject({ ok: true, signature: { trusted: true } });
  const unasked = await verifyBundle(from(lines));
  expect(unasked).toMatchObject({
    ok: true,
    signature: { key: expect.stringMatching(/^SHA256:[\w+/]{43}$/) },
  });
  expect(unasked.signature?.trusted).toBeUndefined();
  const said = async (changed: readonly string[], whose = key): Promise<string> => {
    const { ok, problems } = await verifyBundle(from(changed), whose);
    expect(ok).toBe(false);
    return problems[0]?.message ?? '';
  };
  expect(await said(lines, checkingKey(pem(eve.publicKey)))).toMatch(
    /signed with another key \(SHA256:.* than the one given \(SHA256:/,
  );
  expect(await said(lines.slice(0, -1))).toBe('it is not signed');
  expect(await said([...lines.slice(0, -2), lines.at(-1) as string])).toContain(
    'changed after it was signed',
  );
  expect(await said([...lines, lines.at(-2) as string])).toContain('nothing may follow the signature');
  // Another session under the same signature; another key's name over the same signature; a flipped bit of it.
  const last = JSON.parse(lines.at(-1) as string).signature as Record<string, string>;
  const forged = (more: Record<string, unknown>): string[] => [
    ...lines.slice(0, -1),
    JSON.stringify({ signature: { ...last, ...more } }),
  ];
  expect(await said(forged({ session: 'other' }))).toContain('with another head');
  const spki = eve.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  expect(await said(forged({ key: spki }), checkingKey(pem(eve.publicKey)))).toContain(
    'not made with the key that it names',
  );
  const bent = Buffer.from(last.value as string, 'base64');
  bent[5] = (bent[5] as number) ^ 1;
  expect(await said(forged({ value: bent.toString('base64') }))).toContain('does not fit');
  expect(await said(forged({ key: 'x' }))).toContain('cannot be read');
  expect(await said(forged({ algorithm: 'none' }))).toContain('unknown kind');
  expect(await said(lines.map((line) => line.replace('call 1', 'call 2')))).toContain(
    'do not match its hash',
  );
  // What does not fit is not taken in.
  await expect(importBundle(memoryStore(), from(forged({ seq: 1 })))).rejects.toThrow('with another head');
  expect(await importBundle(memoryStore(), from(lines))).toEqual({ session: 's', fresh: true });
});

test('keys of other kinds, encrypted ones and no keys at all are refused without a word of what stands in them', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  expect(() => signingKey(pem(rsa.privateKey))).toThrow('it must be Ed25519');
  const locked = ann.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'p',
  });
  expect(() => signingKey(locked as string)).toThrow('without a passphrase');
  expect(() => signingKey('top secret')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('top') }),
  );
  expect(() => signingKey(pem(ann.publicKey))).toThrow('signing key cannot be read');
});

test('compressed or not, out and in and out again: the same lines and hashes', async () => {
  using dir = folder();
  const lines = await signed();
  for (const name of ['s.session.jsonl', 's.session.jsonl.zst']) {
    const path = join(dir.path, name);
    await writeBundleFile(path, from(lines));
    expect(await collect(readBundleFile(path))).toEqual(lines);
    const store = fileStore({ root: join(dir.path, `${name}.store`) });
    await importBundle(store, readBundleFile(path));
    expect(await collect(exportBundle(store, 's', { sign: ann.privateKey }))).toEqual(lines);
    await store.close();
  }
});

/** Chats as another tool keeps them: one message a line. */
const chats: Importer = {
  name: 'chats',
  accepts: (line) => line.startsWith('{"role":'),
  async *read(lines, store) {
    const writer = await store.create(header('chat-1', { title: 'imported' }));
    let turn = 0;
    for await (const line of lines) {
      const { role, content } = JSON.parse(line) as { role: string; content: string };
      if (role === 'user') writer.append('input.received', { turn: ++turn, content });
      else writer.append('session.ended', { turn, outcome: 'ok', answer: content });
    }
    await writer.close();
    yield writer.id;
  },
};

test("another tool's file is taken in by the importer that knows it", async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const file = ['{"role":"user","content":"hello"}', '{"role":"assistant","content":"hi"}'];
  await expect(importBundle(store, from(file))).rejects.toThrow('line 1 of the bundle');
  const took = await collect(importSessions(store, from(file), [chats]));
  expect(took).toEqual([{ session: 'chat-1', fresh: true }]);
  expect(await collect(importSessions(store, from(file), [chats]))).toMatchObject([{ fresh: false }]);
  expect((await (await store.reader('chat-1')).view()).turns).toMatchObject([
    { input: 'hello', answer: 'hi' },
  ]);
  expect(await store.verify('chat-1')).toMatchObject({ ok: true });
  await expect(collect(importSessions(store, from([]), [chats]))).rejects.toThrow('the bundle is empty');
  await store.close();
});
