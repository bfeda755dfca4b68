/**
 * The connection to providers: proxies from the environment, further certificate authorities, time limits.
 *
 * Promise: HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured; NODE_EXTRA_CA_CERTS (read by Node itself) and
 * `ca_file` add to the authorities that are trusted, they replace none.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getCACertificates } from 'node:tls';
import { ChassisError } from '@chassis/errors';
import { EnvHttpProxyAgent } from 'undici';

export interface TransportConfig {
  readonly ca_file?: string;
  readonly connect_timeout_ms?: number;
  readonly idle_timeout_ms?: number;
}

/** @param project where a relative `ca_file` starts */
export async function openTransport(config: TransportConfig, project: string): Promise<EnvHttpProxyAgent> {
  const ca = config.ca_file === undefined ? undefined : await authorities(resolve(project, config.ca_file));
  const tls = { timeout: config.connect_timeout_ms ?? 10_000, ...(ca === undefined ? {} : { ca }) };
  const idle = config.idle_timeout_ms ?? 300_000;
  return new EnvHttpProxyAgent({
    connect: tls,
    ...(ca === undefined ? {} : { requestTls: { ca }, proxyTls: { ca } }),
    headersTimeout: idle,
    bodyTimeout: idle,
  });
}

async function authorities(file: string): Promise<string[]> {
  const pem = await readFile(file, 'utf8').catch((cause) => {
    throw new ChassisError('InvalidParams', `ca_file ${file}: cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ChassisError('InvalidParams', `ca_file ${file}: holds no certificate in PEM form`);
  }
  return [...getCACertificates('default'), pem];
}
