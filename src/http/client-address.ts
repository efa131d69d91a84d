import type { IncomingMessage } from 'node:http';

/**
 * The address of a client: that of the connection or, behind proxies, the entry of `X-Forwarded-For` that the outermost of them has
 * written. Entries before it are the client's own, who could otherwise choose an address, and with it a limit, for each request.
 * @param proxies how many proxies are in front of this server, one behind the other
 */
export function clientAddress({ headers, socket }: IncomingMessage, proxies: number): string {
  const forwarded = proxies === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',');
  const addresses = forwarded.map(text => text.trim()).filter(Boolean);
  return addresses[Math.max(0, addresses.length - proxies)] ?? socket.remoteAddress ?? '';
}
