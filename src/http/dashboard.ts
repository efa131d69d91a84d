import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { namesEtag, strongEtag } from './etag.ts';

/** Output directory of `npm run build:dashboard`; the same path from sources and from a build. */
const DIRECTORY = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

/** Paths of the page, whose router handles what follows. (`integrations` is not among them: it receives orders of shops.) */
const PAGES = [
  'inbox',
  'live',
  'contacts',
  'campaigns',
  'templates',
  'bots',
  'webhooks',
  'shops',
  'staff',
  'tokens',
  'channels',
  'usage',
  'phone',
];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Reads the documents of the page by their SHA-256, which `npm run build:dashboard` collects from its sources. Empty without a build.
 */
export async function readDashboardDocuments(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(DIRECTORY, 'documents.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '{}';
  });
  return new Map(Object.entries(JSON.parse(text) as Record<string, string>));
}

interface Asset {
  readonly type: string;
  readonly etag: string;
  /** By content coding, the smallest first. */
  readonly bodies: readonly (readonly [coding: 'br' | 'gzip' | 'identity', body: Buffer])[];
}

/**
 * Registers the dashboard: one page at `/`, and its assets. Browsers may cache assets for a year, because their names contain a digest;
 * the build has compressed them. Registers nothing without a build.
 */
export async function registerDashboard(
  app: FastifyInstance,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  directory = DIRECTORY,
): Promise<void> {
  const assets = await readdir(join(directory, 'assets')).catch(() => []);
  if (assets.length === 0) return;
  const page = lazyAsset(join(directory, 'index.html'));
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.headers({ 'content-security-policy': policy(publicUrl), 'cache-control': 'no-cache' });
    return send(request, reply, await page());
  };
  app.get('/', sendPage);
  for (const name of PAGES) {
    app.get(`/${name}`, sendPage);
    app.get(`/${name}/*`, sendPage);
  }
  for (const name of assets.filter(each => !/\.(br|gz)$/.test(each))) {
    const asset = lazyAsset(join(directory, 'assets', name));
    app.get(`/assets/${name}`, async (request, reply) => {
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return send(request, reply, await asset());
    });
  }
}

/** Reads a file and its compressed forms at the first request, and again after a request for which that failed. */
function lazyAsset(path: string): () => Promise<Asset> {
  let asset: Promise<Asset> | undefined;
  const read = async (): Promise<Asset> => {
    const identity = await readFile(path);
    const compressed = async (suffix: string): Promise<Buffer | undefined> =>
      readFile(path + suffix).catch(() => undefined);
    const [br, gzip] = [await compressed('.br'), await compressed('.gz')];
    return {
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      etag: strongEtag(identity),
      bodies: [
        ...(br ? [['br', br] as const] : []),
        ...(gzip ? [['gzip', gzip] as const] : []),
        ['identity', identity],
      ],
    };
  };
  return () => {
    asset ??= read().catch((error: unknown) => {
      asset = undefined;
      throw error;
    });
    return asset;
  };
}

function send(request: FastifyRequest, reply: FastifyReply, { type, etag, bodies }: Asset): FastifyReply {
  const accepted = codingsOf(String(request.headers['accept-encoding'] ?? ''));
  const [coding, body] = bodies.find(([name]) => accepted.includes(name)) ?? bodies[bodies.length - 1] ?? [];
  // Each content coding is a different representation (RFC 9110 §8.8.3).
  const tag = coding === 'identity' ? etag : etag.replace(/"$/, `-${coding}"`);
  reply.headers({ etag: tag, vary: 'accept-encoding' });
  if (namesEtag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  if (coding !== undefined && coding !== 'identity') reply.header('content-encoding', coding);
  return reply.type(type).send(body);
}

/** The content codings that an Accept-Encoding header names, without those that it refuses by `q=0` (RFC 9110 §12.5.3). */
const codingsOf = (accepted: string): string[] =>
  accepted
    .toLowerCase()
    .split(',')
    .map(item => item.replaceAll(/\s/g, ''))
    .filter(item => !/;q=0(\.0*)?$/.test(item))
    .map(item => item.replace(/;.*$/, ''));

/** Allows only this origin, and pictures and media from the public one. No inline scripts or styles. */
function policy(publicUrl: string | undefined): string {
  const files = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${files} data: blob:`,
    `media-src ${files} blob:`,
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
