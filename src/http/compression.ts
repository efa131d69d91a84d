import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { CodedError } from '../core/errors.ts';

/** Smaller responses fit into one packet anyway. */
const THRESHOLD_BYTES = 1_024;

/** Text formats of our responses. Not event streams, which a compressor would delay, nor media, which are compressed already. */
const COMPRESSIBLE = /^(application\/([\w.-]+\+)?json|application\/javascript|text\/(html|css|javascript|plain))\b/;

const CODINGS: ('br' | 'gzip')[] = ['br', 'gzip'];

/**
 * Compresses responses for clients that accept it, and reads compressed bodies; the body limit applies to the decompressed size.
 * A page of 50 contacts: 51 kB, 6 kB with gzip. Brotli at its default quality of 11 would take 20 times as long for 10 % less.
 */
export async function registerCompression(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const encoding = headers['content-encoding'];
    if (encoding !== undefined) headers['content-encoding'] = codingOf(encoding);
    const accepted = headers['accept-encoding'];
    if (typeof accepted === 'string' && accepted.includes('*')) headers['accept-encoding'] = withoutAsterisk(accepted);
    done();
  });
  await app.register(compress, {
    threshold: THRESHOLD_BYTES,
    customTypes: COMPRESSIBLE,
    encodings: CODINGS,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    requestEncodings: ['gzip', 'deflate', 'br', 'identity'],
    onUnsupportedRequestEncoding: encoding =>
      new CodedError('BAD_REQUEST', `Content-Encoding ${encoding} is not supported: use gzip, deflate or br.`),
    onInvalidRequestPayload: encoding => new CodedError('BAD_REQUEST', `The body is not valid ${encoding}.`),
  });
}

/** Normalises the name of a content coding: names are case-insensitive, and `x-gzip` is `gzip` (RFC 9110 §8.4.1). */
const codingOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip');

/** Replaces `*` in Accept-Encoding by a coding that is not named beside it (RFC 9110 §12.5.3); the plugin always reads it as gzip. */
function withoutAsterisk(accepted: string): string {
  const items = accepted.split(',').map(item => item.trim());
  const nameOf = (item: string): string => codingOf(item.split(';', 1)[0] ?? '');
  const named = new Set(items.map(nameOf));
  const other = CODINGS.findLast(coding => !named.has(coding));
  return items
    .flatMap(item => (nameOf(item) !== '*' ? item : other === undefined ? [] : item.replace('*', other)))
    .join(', ');
}
