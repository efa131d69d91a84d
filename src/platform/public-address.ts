import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address range in CIDR notation. */
export type AddressRange = readonly [Address, bits: number];

/** Parses a range, for example `10.0.0.0/8` or `fd00::/8`. @returns undefined if malformed */
export function parseRange(text: string): AddressRange | undefined {
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

/** IPv6 global unicast (RFC 4291 §2.4). Everything else is local, embedded or unassigned. */
const GLOBAL: AddressRange = ipaddr.parseCIDR('2000::/3');
/** Azure's platform services and metadata, internal despite the public address; documentation (RFC 9637). */
const INTERNAL: readonly AddressRange[] = ['168.63.129.16/32', '3fff::/20'].map(text => ipaddr.parseCIDR(text));
/** IPv6 prefixes that contain an IPv4 address: mapped, translated (RFC 6145), NAT64 (RFC 6052). */
const IPV4_PREFIXES: readonly AddressRange[] = ['::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96'].map(text =>
  ipaddr.parseCIDR(text),
);

const isIn = (address: Address, [range, bits]: AddressRange): boolean =>
  address.kind() === range.kind() && address.match(range, bits);

/** Returns the IPv4 address that an IPv6 address contains, or the address itself. */
function embeddedIpv4(address: Address): Address {
  if (address.kind() === 'ipv6' && IPV4_PREFIXES.some(range => isIn(address, range)))
    return ipaddr.fromByteArray(address.toByteArray().slice(12));
  return address;
}

/**
 * Whether a literal address is public (IANA's registries of special-purpose addresses) or in an explicitly allowed range. Not
 * public, in any notation: loopback, private, link-local (cloud metadata), carrier-grade NAT, multicast, broadcast, documentation
 * and reserved ranges, and the obsolete 6to4 and Teredo. An IPv4 address within an IPv6 address is checked as IPv4.
 */
export function isPublicAddress(text: string, allowed: readonly AddressRange[] = []): boolean {
  // The library also parses `127.1` and `0x7f000001`, which connecting code treats as host names.
  if (isIP(text) === 0) return false;
  const address = embeddedIpv4(ipaddr.parse(text));
  if (allowed.some(range => isIn(address, range))) return true;
  if (address.range() !== 'unicast' || INTERNAL.some(range => isIn(address, range))) return false;
  return address.kind() === 'ipv4' || isIn(address, GLOBAL);
}
