import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The address of a client, as limits count it: that of the connection or, behind proxies, the entry of `X-Forwarded-For` that the
 * outermost of them has written. Entries before it are the client's own, who could otherwise choose an address, and with it a limit, for
 * each request. For IPv6 it is the network of 64 bits, all of whose addresses the client may use (RFC 4291 §2.5.1).
 * @param proxies how many proxies are in front of this server, one behind the other
 */
export function clientAddress({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = proxies === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',');
  const addresses = forwarded.map(text => text.trim()).filter(Boolean);
  return networkOf(addresses[Math.max(0, addresses.length - proxies)] ?? socket.remoteAddress ?? '');
}

const NETWORK_BYTES = 8;

function networkOf(text: string): string {
  if (isIP(text) !== 6) return text;
  // An IPv4 address that is mapped into IPv6 stays one.
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  const bytes = address.toByteArray().fill(0, NETWORK_BYTES);
  return `${ipaddr.fromByteArray(bytes).toString()}/${NETWORK_BYTES * 8}`;
}
