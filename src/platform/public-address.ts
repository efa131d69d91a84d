import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses, as CIDR writes it. */
export type AddressRange = readonly [Address, bits: number];

/** @returns undefined when the text is no range such as `10.0.0.0/8` or `fd00::/8` */
export function parseRange(text: string): AddressRange | undefined {
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

/** Global unicast of IPv6 (RFC 4291 §2.4): what lies elsewhere is local, embedded, or not given out. */
const GLOBAL: AddressRange = ipaddr.parseCIDR('2000::/3');
/** Public by its number, and yet of the host's inside: the server of platform services and metadata of Azure. Documentation (RFC 9637). */
const INSIDE: readonly AddressRange[] = ['168.63.129.16/32', '3fff::/20'].map(text => ipaddr.parseCIDR(text));
/** IPv6 addresses behind which an IPv4 address is reached: mapped, translated (RFC 6145), NAT64 (RFC 6052). */
const EMBEDDING: readonly AddressRange[] = ['::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96'].map(text =>
  ipaddr.parseCIDR(text),
);

const isIn = (address: Address, [range, bits]: AddressRange): boolean =>
  address.kind() === range.kind() && address.match(range, bits);

/** The address that is reached in the end. */
function reached(address: Address): Address {
  if (address.kind() === 'ipv6' && EMBEDDING.some(range => isIn(address, range)))
    return ipaddr.fromByteArray(address.toByteArray().slice(12));
  return address;
}

/**
 * Whether a literal address belongs to the public Internet (IANA's registries of special-purpose addresses), or to a range
 * that is allowed all the same. Loopback, private, link-local (where clouds have their metadata), carrier-grade NAT,
 * multicast, broadcast, documentation and reserved ranges do not, in no spelling of them: an IPv4 address inside of an IPv6
 * address counts as itself; 6to4 and Teredo, which nobody needs any more, are not public.
 */
export function isPublicAddress(text: string, allowed: readonly AddressRange[] = []): boolean {
  // The library also reads `127.1` and `0x7f000001`, which are names to whoever connects.
  if (isIP(text) === 0) return false;
  const address = reached(ipaddr.parse(text));
  if (allowed.some(range => isIn(address, range))) return true;
  if (address.range() !== 'unicast' || INSIDE.some(range => isIn(address, range))) return false;
  return address.kind() === 'ipv4' || isIn(address, GLOBAL);
}
