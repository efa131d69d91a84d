import { lookup, Resolver } from 'node:dns/promises';
import { SECOND } from './clock.ts';

/** Resolves all addresses of a host name. Rejects if there are none. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;

/** DNS errors for an unknown name or a missing name server. */
const NO_RECORD: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ENONAME', 'EBADNAME']);

/** Whether a name refers to this machine, regardless of DNS (RFC 6761 §6.3). */
export const isLocalhost = (hostname: string): boolean => /(^|\.)localhost\.?$/i.test(hostname);

/** The addresses of such a name. */
export const LOOPBACK = ['127.0.0.1', '::1'] as const;

/**
 * Queries DNS servers directly, and the system (hosts file, search domains) only for names that they do not know. A look-up by the
 * system occupies one of the four libuv threads, which file access needs too: names chosen by tenants, on unresponsive servers, could
 * block all of them.
 */
export function createNameResolver(): ResolveName {
  const resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 });
  return async hostname => {
    if (isLocalhost(hostname)) return LOOPBACK;
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    for (const answer of answers) {
      const reason: unknown = answer.status === 'rejected' ? answer.reason : undefined;
      if (reason && !NO_RECORD.has((reason as { code?: unknown }).code)) throw reason;
    }
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  };
}
