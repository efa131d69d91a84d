import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { dataOf } from '../../../../support/answers.ts';
import type { GraphQLAnswer, TestGateway } from '../../../../support/gateway.ts';

export interface PutAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly body: any;
}

export interface MediaClient {
  create(input?: object, token?: string): Promise<GraphQLAnswer>;
  /** A place for a file. @returns its id */
  place(input?: object): Promise<string>;
  put(id: string, file: Buffer | AsyncIterable<Buffer>, headers?: Record<string, string>): Promise<PutAnswer>;
  /** Uploads a file. @returns its id */
  uploaded(file: Buffer, input?: object): Promise<string>;
  get(id: string, headers?: Record<string, string>, query?: string): Promise<Response>;
}

export function mediaOf(gateway: TestGateway, token = gateway.tenant.token): MediaClient {
  const create: MediaClient['create'] = (input = {}, as = token) =>
    gateway.graphql(
      'mutation ($input: CreateMediaUploadInput!) { createMediaUpload(input: $input) { uploadUrl expiresAt maxBytes media { id databaseId isUploaded path url kind filename } userErrors { code message path } } }',
      { input },
      as,
    );
  const place: MediaClient['place'] = async input => dataOf(await create(input)).createMediaUpload.media.databaseId;
  const put: MediaClient['put'] = (id, file, headers = {}) =>
    send(`${gateway.url}/media/${id}`, file, { authorization: `Bearer ${token}`, ...headers });
  return {
    create,
    place,
    put,
    async uploaded(file, input) {
      const id = await place(input);
      const answer = await put(id, file);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return id;
    },
    get: (id, headers = {}, query = '') =>
      fetch(`${gateway.url}/media/${id}${query}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
  };
}

/** By node:http, which reads an answer that comes while it is still writing. */
function send(url: string, file: Buffer | AsyncIterable<Buffer>, headers: Record<string, string>): Promise<PutAnswer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.isBuffer(file) ? { 'content-length': String(file.length) } : {};
    const outgoing = request(url, { method: 'PUT', headers: { ...length, ...headers } }, async answer => {
      const text = (await buffer(answer)).toString();
      resolve({ status: answer.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) });
    });
    outgoing.on('error', reject);
    if (Buffer.isBuffer(file)) outgoing.end(file);
    else
      Readable.from(file)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing);
  });
}
