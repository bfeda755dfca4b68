/**
 * Which hosts may be reached.
 *
 * Promise: an address of this machine, of a private or of a special network is refused unless the
 * configuration names the host; the address that is checked is the one that is connected to.
 */
import { type LookupOptions, lookup as systemLookup } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { ChassisError } from '@chassis/errors';

const special = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 96], // unspecified, loopback, and IPv4 in its long-deprecated form
  ['64:ff9b::', 96], // IPv4 behind a translator
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: an IPv4 address inside
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  special.addSubnet(network, bits, 'ipv6');
}

/** Whether an IP address is not one of the public Internet. IPv4 in IPv6 (`::ffff:…`) counts as the IPv4 address. */
export function isSpecial(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  return special.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

export class Targets {
  readonly #allowed: readonly string[];

  /** @param allowed `host`, `host:port` or `*.domain` */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((host) => host.toLowerCase());
  }

  /**
   * Checks a URL before it is requested, also one that a proxy will resolve.
   *
   * @throws InvalidParams for a URL that is none or not of the web, PermissionDenied for a local or private one
   */
  async check(url: URL): Promise<void> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new ChassisError('InvalidParams', `${url.protocol} is not http or https`, {
        data: { url: url.href },
      });
    }
    if (url.username !== '' || url.password !== '') {
      throw new ChassisError('InvalidParams', 'the URL holds a user name or password; use a header instead');
    }
    const host = hostOf(url);
    if (this.#isAllowed(host, url.port || (url.protocol === 'https:' ? '443' : '80'))) return;
    if (host === 'localhost' || host.endsWith('.localhost')) throw refused(host, 'this machine');
    if (isIP(host) !== 0) {
      if (isSpecial(host)) throw refused(host, host);
      return;
    }
    // A name that does not resolve here may still resolve at the proxy; without one, connecting says so.
    const addresses = await lookup(host, { all: true }).catch(() => []);
    for (const { address } of addresses) if (isSpecial(address)) throw refused(host, address);
  }

  /** Resolves names for connections; the last word, because a name can change its address after the check. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true } as LookupOptions & { all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const bad = this.#isAllowed(hostname.toLowerCase())
        ? undefined
        : addresses.find((a) => isSpecial(a.address));
      if (bad !== undefined) return callback(refused(hostname, bad.address) as unknown as Error, []);
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };

  #isAllowed(host: string, port?: string): boolean {
    return this.#allowed.some((entry) => {
      const [, name = entry, at] =
        /^(.*?)(?::(\d+))?$/.exec(isIP(bare(entry)) === 6 ? bare(entry) : entry) ?? [];
      if (isIP(bare(entry)) === 6) return bare(entry) === host;
      if (at !== undefined && port !== undefined && at !== port) return false;
      return name.startsWith('*.') ? host.endsWith(name.slice(1)) : name === host;
    });
  }
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function hostOf(url: URL): string {
  return bare(url.hostname).toLowerCase().replace(/\.$/, '');
}

function refused(host: string, address: string): ChassisError {
  return new ChassisError('PermissionDenied', `${host} is an address of a local or private network`, {
    data: {
      host,
      address,
      fix: `If it is meant, add "${host}" to plugins.http.config.allow_hosts.`,
    },
  });
}
