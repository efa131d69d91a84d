import type { FastifyRequest } from 'fastify';
import { FieldErrorList, invalid, notFound } from '../../core/errors.ts';
import type { Caller } from '../../graphql/execution/kernel.ts';
import type { Query } from './filter.ts';

export type RestRequest = FastifyRequest<{
  Querystring: Query;
  Params: { readonly tenant?: string; readonly id?: string; readonly delivery?: string };
}>;

/** Form of an id in a path: a numeric key of ours, the network's numeric id (longer), a UUID, or the id of a message. */
export type IdKind = 'row' | 'network' | 'uuid' | 'message';

const ID_PATTERNS: Readonly<Record<IdKind, RegExp>> = {
  row: /^\d{1,15}$/,
  network: /^\d{1,32}$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /** Our UUID, or the network's wamid. */
  message: /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|wamid\.[\w+/=-]{1,250})$/i,
};

const KEY = 'Idempotency-Key';
const MAX_KEY = 255;
const KEY_TOO_LONG = `May have at most ${MAX_KEY} characters.`;

/** A request with what routes read from it: ids, headers, addresses, and the faults found so far. */
export class Call {
  readonly request: RestRequest;
  /** Id of the caller's tenant; undefined if the call is not authenticated. */
  readonly tenantId: number | undefined;
  /** Faults of parameters, body and `Idempotency-Key`. */
  readonly errors = new FieldErrorList();

  constructor(request: RestRequest, caller?: Caller) {
    this.request = request;
    this.tenantId = caller?.principal?.tenant.id;
  }

  get query(): Query {
    return this.request.query;
  }

  /**
   * A parameter of the path that identifies an object.
   * @param resource its type, as the error names it
   * @throws NOT_FOUND for text of another form
   */
  id(resource: string, kind: IdKind = 'row', parameter: 'id' | 'delivery' = 'id'): string {
    const id = this.request.params[parameter] ?? '';
    if (!ID_PATTERNS[kind].test(id)) throw notFound(resource);
    return id;
  }

  /** `Idempotency-Key`, bare or as the quoted string of the IETF draft. @throws VALIDATION_ERROR beyond 255 characters */
  get idempotencyKey(): string | undefined {
    const key = this.#sentKey;
    if (key.length > MAX_KEY) throw invalid({ [KEY]: [KEY_TOO_LONG] }, 'TOO_LONG');
    return key === '' ? undefined : key;
  }

  /** Adds the fault of an `Idempotency-Key` that is too long to those of the parameters and the body. */
  checkIdempotencyKey(): void {
    if (this.#sentKey.length > MAX_KEY) this.errors.add(KEY, KEY_TOO_LONG, 'TOO_LONG');
  }

  get #sentKey(): string {
    const header = this.request.headers['idempotency-key'];
    return typeof header === 'string' ? header.trim().replace(/^"(.*)"$/, '$1') : '';
  }

  /** `Prefer: respond-async` (RFC 7240 §4.1). */
  get prefersAsync(): boolean {
    const { prefer } = this.request.headers;
    return prefer !== undefined && /(^|[,;])\s*respond-async\s*([,;]|$)/i.test(String(prefer));
  }

  /** The absolute address of this list, without parameters. */
  get listUrl(): string {
    return this.address(this.request.url.split('?', 1)[0] ?? '');
  }

  /** The absolute address of another page of this list, with all other parameters as they were sent. */
  pageUrl(page: number): string {
    const { url } = this.request;
    // A query may contain further question marks (RFC 3986 §3.4).
    const search = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
    const others = search.split('&').filter(parameter => parameter !== '' && !/^page(=|$)/.test(parameter));
    return `${this.listUrl}?${[...others, `page=${page}`].join('&')}`;
  }

  /** The absolute address of a path on this server. An absolute address is returned unchanged. */
  address(path: string): string {
    const { protocol, host } = this.request;
    // An HTTP/1.0 request may have no Host header.
    return path.startsWith('/') && host ? `${protocol}://${host}${path}` : path;
  }
}
