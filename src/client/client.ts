import { Connection } from './connection.ts';
import {
  declaresVariable,
  mutationsWithoutUserErrors,
  type ReadDocument,
  readDocument,
  type TypedDocument,
  withKeys,
} from './documents.ts';
import { ParleyError, type ResponseError, TransportError } from './errors.ts';
import { type GraphQLBody, type HttpOptions, post } from './http.ts';
import { follow } from './stream.ts';
import { type Token, type TokenSource, TokenStore } from './token.ts';
import { put, type UploadOptions, type UploadProgress } from './upload.ts';

export type { GraphQLBody, ResponseError, Token, TokenSource, TypedDocument, UploadOptions, UploadProgress };
export { ParleyError, TransportError };

export interface ClientOptions {
  /** Address of the gateway, with or without `/graphql`: `https://parley.example.com`. */
  readonly url: string;
  /**
   * An access token, or a function that returns one or a staff session. It is called again before the session expires and after the
   * gateway rejected it. If it throws, subscriptions retry with backoff. If it returns null (the session is over) or throws a
   * ParleyError, subscriptions end with UNAUTHORIZED or that error.
   */
  readonly token: TokenSource;
  /** Maximum number of retries of operations that may be repeated. Default 3. */
  readonly retries?: number;
  /**
   * The id of a trusted document (`sha256:…`) by the name of its operation; it is sent in place of the text. Undefined sends the text,
   * which sessions that are restricted to trusted documents may not.
   */
  readonly documentId?: (operationName: string) => string | undefined;
  /** Called when the socket of the subscriptions is connected, and when it is lost or cannot be connected: with the close event or error. */
  readonly onConnection?: (state: 'connected' | 'closed', cause?: unknown) => void;
  /** Defaults: the global `fetch` and `WebSocket`. Node has a global WebSocket from version 22 on; before, pass that of `ws`. */
  readonly fetch?: typeof fetch;
  readonly webSocketImpl?: unknown;
}

export interface OperationOptions {
  readonly signal?: AbortSignal;
}

export interface ParleyClient {
  /** Executes a query. Retried after a lost connection, 429, 502, 503 and 504. @throws ParleyError, TransportError */
  query<Data, Variables extends object>(
    document: TypedDocument<Data, Variables>,
    variables: Variables,
    options?: OperationOptions,
  ): Promise<Data>;
  /**
   * Executes a mutation. An input without `idempotencyKey` gets one, so that the mutation can be retried after a lost connection
   * without being executed twice. This requires that each input is a separate variable or has a key; otherwise there is no retry.
   * `userErrors` are returned as data, without a retry.
   * @throws TypeError for a document that does not select `userErrors`; ParleyError, TransportError
   */
  mutate<Data, Variables extends object>(
    document: TypedDocument<Data, Variables>,
    variables: Variables,
    options?: OperationOptions,
  ): Promise<Data>;
  /**
   * Subscribes. With a variable `$after` and the `cursor` of the events selected, the stream continues without a gap or a duplicate
   * after a lost connection, also one before the first event; `after: (await query(…)).eventCursor` begins it where the data of that
   * query ends.
   */
  subscribe<Data, Variables extends object>(
    document: TypedDocument<Data, Variables>,
    variables: Variables,
    options?: OperationOptions,
  ): AsyncGenerator<Data>;
  /**
   * Uploads a file for `sendMessage`. It is retried like a query; `onProgress` then starts again at 0.
   * @returns the global id of the upload, its `mediaId`
   * @throws ParleyError, TransportError
   */
  upload(
    file: Blob,
    options?: UploadOptions & { readonly filename?: string; readonly idempotencyKey?: string },
  ): Promise<string>;
  /** Executes any operation, for the adapters of other clients. */
  execute(body: GraphQLBody, isRepeatable: boolean, signal?: AbortSignal): Promise<unknown>;
  /** Subscribes with any operation, for the adapters of other clients. */
  stream(body: GraphQLBody, signal?: AbortSignal): AsyncGenerator<unknown>;
  /** Ends all subscriptions and closes the socket. */
  close(): Promise<void>;
}

const CREATE_UPLOAD = `mutation ParleyCreateUpload($input: CreateMediaUploadInput!) {
  createMediaUpload(input: $input) { media { id } uploadUrl userErrors { message path code } }
}`;

interface CreatedUpload {
  readonly createMediaUpload: {
    readonly media: { readonly id: string } | null;
    readonly uploadUrl: string | null;
    readonly userErrors: readonly { readonly message: string; readonly code: string }[];
  } | null;
}

/** Creates a client of one gateway and token. */
export function createClient(options: ClientOptions): ParleyClient {
  const base = options.url.replace(/\/graphql\/?$|\/$/, '');
  const tokens = new TokenStore(options.token);
  const http: HttpOptions = {
    url: `${base}/graphql`,
    tokens,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retries: options.retries ?? 3,
  };
  let connection: Connection | undefined;
  const connect = (): Connection => {
    connection ??= new Connection({
      url: http.url,
      tokens,
      webSocketImpl: options.webSocketImpl,
      ...(options.onConnection && { onConnection: options.onConnection }),
    });
    return connection;
  };

  /** Replaces the text of a document by its id, if it has one. */
  const withDocumentId = <Body extends GraphQLBody>(body: Body): Body => {
    if (body.operationName === undefined || body.documentId !== undefined) return body;
    const documentId = options.documentId?.(body.operationName);
    if (documentId === undefined) return body;
    const { query: _text, ...rest } = body;
    return { ...rest, documentId } as Body;
  };
  const execute: ParleyClient['execute'] = (body, isRepeatable, signal) =>
    post(http, withDocumentId(body), isRepeatable, signal);
  const bodyOf = ({ text, operation }: ReadDocument, variables: unknown): GraphQLBody => ({
    query: text,
    operationName: operation?.name?.value,
    variables,
  });
  async function* stream(body: GraphQLBody, signal?: AbortSignal): AsyncGenerator<unknown> {
    // The protocol of graphql-ws requires a text, which may be empty.
    const { query = '', ...rest } = withDocumentId(body);
    const variables = { ...(body.variables ?? {}) };
    // If only the id is known, the given variables are assumed to be those that the document declares.
    const isResumable = body.query ? declaresVariable(readDocument(body.query), 'after') : 'after' in variables;
    yield* follow(connect(), { ...rest, query, variables }, isResumable, signal);
  }

  return {
    execute,
    stream,
    query: (document, variables, { signal } = {}) =>
      execute(bodyOf(readDocument(document), variables), true, signal) as Promise<never>,
    async mutate(document, variables, { signal } = {}) {
      const read = readDocument(document);
      const incomplete = mutationsWithoutUserErrors(read);
      if (incomplete.length > 0)
        throw new TypeError(`Select userErrors of ${incomplete.join(', ')}: a refusal is data, not an error.`);
      const keyed = withKeys(read, variables);
      return (await execute(bodyOf(read, keyed ?? variables), keyed !== undefined, signal)) as never;
    },
    subscribe(document, variables, { signal } = {}) {
      return stream(bodyOf(readDocument(document), variables), signal) as AsyncGenerator<never>;
    },
    async upload(file, { filename, idempotencyKey, ...upload } = {}) {
      const name = filename ?? (file as { readonly name?: string }).name;
      const input = {
        idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
        filename: name,
        mimeType: file.type || undefined,
      };
      const created = (await execute(
        { query: CREATE_UPLOAD, operationName: 'ParleyCreateUpload', variables: { input } },
        true,
        upload.signal,
      )) as CreatedUpload;
      const { media, uploadUrl, userErrors = [] } = created.createMediaUpload ?? {};
      if (!media || !uploadUrl)
        throw new ParleyError(userErrors.map(({ message, code }) => ({ message, extensions: { code } })));
      await put(http, new URL(uploadUrl, base).href, file, upload);
      return media.id;
    },
    async close() {
      const open = connection;
      connection = undefined;
      await open?.close();
    },
  };
}
