/**
 * Signatures of bundles: Ed25519 over the session's id, the number of its last event, and its head hash, in one last line.
 *
 * Promise: since every event hangs on the head and every value on its hash, the signature is for each byte of the bundle; the
 * keys are the user's, and nothing here keeps one.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { ChassisError } from '@chassis/errors';

/** What is signed: a session up to its last event. */
export interface SignedHead {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
}

/** A signature that fits its bundle; whose key it is, is for the reader to know. */
export interface BundleSignature {
  /** `SHA256:…`, base64 over the public key (SPKI, DER), as OpenSSH writes fingerprints. */
  readonly key: string;
  /** Whether it is the key that was asked for; absent when none was. */
  readonly trusted?: boolean;
}

export const SIGNATURE_START = '{"signature":';

/** @param pem a private key (PKCS #8) @throws ChassisError InvalidParams when it is none, or not Ed25519 */
export function signingKey(pem: string | Buffer): KeyObject {
  return ed25519('signing key', () => createPrivateKey(pem));
}

/** @param pem a public key (SPKI); a private one stands for its public one */
export function checkingKey(pem: string | Buffer): KeyObject {
  return ed25519('public key', () => createPublicKey(pem));
}

function ed25519(what: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch (cause) {
    // The system's words may quote what stands in the file.
    throw new ChassisError(
      'InvalidParams',
      `the ${what} cannot be read: it must be a PEM file without a passphrase`,
      {
        data: {
          fix: 'openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out key.pub.pem',
        },
        cause,
      },
    );
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new ChassisError(
    'InvalidParams',
    `the ${what} is of type ${key.asymmetricKeyType}; it must be Ed25519`,
  );
}

/** The last line of a signed bundle. The same key and session give the same line. */
export function signatureLine(head: SignedHead, key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const signature = {
    algorithm: 'ed25519',
    session: head.session,
    seq: head.seq,
    hash: head.hash,
    key: spki.toString('base64'),
    value: sign(null, message(head), key).toString('base64'),
  };
  return JSON.stringify({ signature });
}

/**
 * @param head what the bundle really ends with
 * @returns the signature, or in words what is wrong with it
 */
export function readSignature(line: string, head: SignedHead, wanted?: KeyObject): BundleSignature | string {
  let given: Record<string, unknown>;
  let key: KeyObject;
  let value: Buffer;
  try {
    given = (JSON.parse(line) as { signature: Record<string, unknown> }).signature;
    key = createPublicKey({ key: Buffer.from(String(given.key), 'base64'), type: 'spki', format: 'der' });
    value = Buffer.from(String(given.value), 'base64');
  } catch {
    return 'its signature cannot be read';
  }
  if (given.algorithm !== 'ed25519' || key.asymmetricKeyType !== 'ed25519')
    return `its signature is of an unknown kind (${JSON.stringify(given.algorithm)})`;
  if (given.session !== head.session || given.seq !== head.seq || given.hash !== head.hash)
    return `its signature is for event ${String(given.seq)} of session ${String(given.session)} with another head: the bundle was changed after it was signed`;
  if (!verify(null, message(head), key, value))
    return 'its signature does not fit: it was not made with the key that it names';
  if (wanted === undefined) return { key: fingerprint(key) };
  if (!wanted.equals(key))
    return `it is signed with another key (${fingerprint(key)}) than the one given (${fingerprint(wanted)})`;
  return { key: fingerprint(key), trusted: true };
}

function message({ session, seq, hash: head }: SignedHead): Buffer {
  return Buffer.from(`chassis bundle v1\n${session}\n${seq}\n${head}\n`);
}

function fingerprint(key: KeyObject): string {
  const spki = key.export({ type: 'spki', format: 'der' });
  return `SHA256:${hash('sha256', spki, 'base64').replace(/=+$/, '')}`;
}
