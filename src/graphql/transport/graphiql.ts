import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';

/** Whether a browser requests an HTML page. */
export const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && (headers.accept?.includes('text/html') ?? false);

/**
 * Sends the bundled GraphiQL; it loads nothing from other origins. In development its headers contain a token, so that the
 * first query runs without setup, unless the Host header is foreign (DNS rebinding).
 */
export async function sendGraphiQL(
  request: FastifyRequest,
  reply: FastifyReply,
  { graphiql, host, allowedHosts }: Pick<Config, 'graphiql' | 'host' | 'allowedHosts'>,
): Promise<FastifyReply> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const token = graphiql && isTrustedHost(request.headers, [host, ...allowedHosts]) ? graphiql.token : undefined;
  const nonce = randomBytes(16).toString('base64');
  const page = renderGraphiQL({
    title: 'Parley',
    // Over Server-Sent Events the headers of the editor's tab apply; over a WebSocket GraphiQL sends `{}`.
    subscriptionsProtocol: 'GRAPHQL_SSE',
    defaultQuery: '{\n  viewer {\n    account {\n      name\n    }\n    scopes\n  }\n}\n',
    ...(token !== undefined && { headers: JSON.stringify({ authorization: `Bearer ${token}` }, null, 2) }),
  });
  return (
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy(nonce),
        // The page may contain a token.
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      // The first match is the page's only script; later ones are text within it.
      .send(page.replace('<script>', `<script nonce="${nonce}">`))
  );
}

/** Allows this origin and this script. The editor needs inline styles, a font from a data URL and workers from blobs. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

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
