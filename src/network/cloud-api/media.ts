import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { asNumber, asObject, asText, type JsonObject, parseStorable } from '../../platform/json.ts';
import {
  type ChannelCredentials,
  type MediaDownload,
  type MediaInfo,
  type Network,
  NetworkCallError,
} from '../network.ts';
import { foreignResponse, toNetworkError } from './errors.ts';
import { multipartAround } from './multipart.ts';

type MediaCalls = Pick<Network, 'uploadMedia' | 'uploadExample' | 'mediaInfo' | 'downloadMedia'> & {
  close(): Promise<void>;
};

export interface MediaOptions {
  /** Origin of the Graph API, and the prefix of its paths. */
  readonly origin: string;
  readonly prefix: string;
  readonly connectMs: number;
  /** Makes a small call and returns the parsed body. @throws NetworkCallError */
  call(what: string, channel: ChannelCredentials, path: string, method?: 'GET' | 'POST'): Promise<JsonObject>;
}

/** Files use separate connections, so that slow transfers do not delay messages. */
const CONNECTIONS = 32;
/** Timeout without any byte transferred; the network needs some time to process a large file. */
const SILENCE_MS = MINUTE;
/** Maximum size of the response to an upload: an id or an error. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Hosts of the network's files (`lookaside.fbsbx.com` in all recorded responses). The token is sent to no other host. */
const HOSTS = /(^|\.)(fbsbx\.com|facebook\.com|fbcdn\.net|whatsapp\.net)$/;

/** Uploads and downloads, streamed without holding whole files in memory. */
export function createMediaCalls(options: MediaOptions): MediaCalls {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: options.connectMs },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    keepAliveTimeout: 4 * SECOND,
  });
  const authorization = (channel: ChannelCredentials) => ({ authorization: `Bearer ${channel.accessToken}` });

  /** Streams a file. @returns the field of the response that names it */
  async function post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: AsyncIterable<Uint8Array>,
    field: 'id' | 'h',
  ): Promise<string> {
    const source = trackFailure(body);
    const response = await agent
      .request({
        origin: options.origin,
        path: `${options.prefix}/${path}`,
        method: 'POST',
        headers: { ...headers, accept: 'application/json' },
        body: source.stream,
      })
      .then(async ({ statusCode, headers, body }) => ({ statusCode, headers, text: await textOf(body) }))
      .catch((error: unknown) => {
        // The error of the source explains more than that of the connection it broke.
        throw source.failure() ?? new NetworkCallError(`upload: ${reasonOf(error)}`, undefined, error);
      });
    const fields = parseStorable(response.text);
    const error = toNetworkError(fields, response.headers);
    if (error) throw new NetworkCallError(`upload: ${error.code} ${error.title}`, error);
    const name = asText(asObject(fields)?.[field]);
    if (response.statusCode !== 200 || name === undefined)
      throw new NetworkCallError(`upload: HTTP ${response.statusCode}`, foreignResponse(response.statusCode));
    return name;
  }

  return {
    async uploadMedia(channel, file) {
      const { contentType, contentLength, body } = multipartAround(file, {
        messaging_product: 'whatsapp',
        type: file.mimeType,
      });
      const headers = {
        ...authorization(channel),
        'content-type': contentType,
        ...(contentLength !== undefined && { 'content-length': String(contentLength) }),
      };
      return post(`${encodeURIComponent(channel.phoneNumberId)}/media`, headers, body, 'id');
    },

    // The Resumable Upload API, which identifies the app by the token: https://developers.facebook.com/docs/graph-api/guides/upload
    async uploadExample(channel, { stream, mimeType, filename, size }) {
      const query = new URLSearchParams({ file_name: filename, file_length: String(size), file_type: mimeType });
      const session = asText((await options.call('upload', channel, `app/uploads?${query}`, 'POST'))['id']);
      // `upload:…?sig=…` is a path with its query as it is.
      if (session === undefined || !/^upload:[\w:?=&%.~+-]+$/.test(session))
        throw new NetworkCallError('upload: the response has no upload session');
      const headers = {
        authorization: `OAuth ${channel.accessToken}`,
        file_offset: '0',
        'content-type': mimeType,
        'content-length': String(size),
      };
      return post(session, headers, stream, 'h');
    },

    async mediaInfo(channel, mediaId) {
      const query = `phone_number_id=${encodeURIComponent(channel.phoneNumberId)}`;
      const fields = await options.call('media', channel, `${encodeURIComponent(mediaId)}?${query}`);
      const url = asText(fields['url']);
      if (url === undefined) throw new NetworkCallError('media: the response has no URL');
      const info: MediaInfo = {
        url,
        mimeType: asText(fields['mime_type']) ?? 'application/octet-stream',
        sha256: asText(fields['sha256']),
        size: asNumber(fields['file_size']),
      };
      return info;
    },

    async downloadMedia(channel, url, range) {
      const { origin, pathname, search } = requireNetworkUrl(url, options.origin);
      const { statusCode, headers, body } = await agent
        .request({
          origin,
          path: `${pathname}${search}`,
          method: 'GET',
          headers: { ...authorization(channel), ...(range !== undefined && { range }) },
        })
        .catch((error: unknown) => {
          throw new NetworkCallError(`download: ${reasonOf(error)}`, undefined, error);
        });
      // The reader that destroys the stream knows the reason.
      body.on('error', () => undefined);
      if (statusCode === 200 || statusCode === 206 || statusCode === 416) {
        const download: MediaDownload = {
          status: statusCode,
          contentLength: asText(headers['content-length']),
          contentRange: asText(headers['content-range']),
          stream: body,
        };
        return download;
      }
      const text = await textOf(body).catch(() => '');
      if (statusCode === 404) return undefined;
      const error = toNetworkError(parseStorable(text), headers) ?? foreignResponse(statusCode);
      throw new NetworkCallError(`download: ${error.code} ${error.title}`, error);
    },

    close: () => agent.destroy(),
  };
}

/** @throws NetworkCallError for a URL of another host */
function requireNetworkUrl(address: string, origin: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && (url.origin === origin || (url.protocol === 'https:' && url.port === '' && HOSTS.test(url.hostname))))
    return url;
  throw new NetworkCallError('download: the URL is not one of the network');
}

/** Records the error of a source, which differs from the reason why its reader stopped. */
function trackFailure(source: AsyncIterable<Uint8Array>): { stream: Readable; failure(): unknown } {
  let failure: unknown;
  async function* stream() {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await iterator.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { stream: Readable.from(stream(), { objectMode: false }), failure: () => failure };
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.message) : 'no response';
