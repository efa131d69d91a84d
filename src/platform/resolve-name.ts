import { lookup, Resolver } from 'node:dns/promises';
import { SECOND } from './clock.ts';

/** Asks for all addresses of a host name. Rejects when there is none. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;

/** What the name system answers about a name that it does not have, or when there is no name server. */
const NOT_THERE: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'ENONAME', 'EBADNAME']);

/** Whether a name is this machine's, whatever a name server says (RFC 6761 §6.3). */
export const isLocalhost = (hostname: string): boolean => /(^|\.)localhost\.?$/i.test(hostname);

/** What such a name stands for. */
export const LOOPBACK = ['127.0.0.1', '::1'] as const;

/**
 * Asks the name servers directly, and the system (which knows its hosts file and search domains) only about names that they
 * do not have. The system's own look-up blocks one of the four threads that files and passwords need as well: names that
 * strangers choose, on servers that never answer, would stop them all.
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
      if (reason && !NOT_THERE.has((reason as { code?: unknown }).code)) throw reason;
    }
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  };
}
