import { isIPv4 } from 'node:net';

/**
 * Whether the Host header of a request, and its Origin if present, name this server: a loopback name, the listen address or a
 * configured name. Protects against DNS rebinding, where a foreign site resolves its own name to our address.
 *
 * @param allowed the listen address and the configured names
 */
export function isTrustedHost(
  { host, origin }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  allowed: readonly string[],
): boolean {
  const isTrusted = (name: string | undefined): boolean =>
    name !== undefined && (isLoopbackName(name) || allowed.some(entry => entry.toLowerCase() === name));
  return isTrusted(nameOf(host)) && (origin === undefined || isTrusted(nameOf(/^https?:\/\/(.+)$/.exec(origin)?.[1])));
}

/** `localhost:4000` → `localhost`, `[::1]:4000` → `::1`; undefined if malformed. */
function nameOf(host: string | undefined): string | undefined {
  const [, bracketed, name] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host ?? '') ?? [];
  return (bracketed ?? name)?.toLowerCase();
}

const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
