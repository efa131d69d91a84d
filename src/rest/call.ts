import type { FastifyRequest } from 'fastify';
import { FieldErrorList, invalid, notFound } from '../errors.ts';
import type { Caller } from '../graphql/kernel.ts';
import { Body } from './body.ts';
import type { Query } from './query.ts';
import { namesEtag } from './validator.ts';

export type RestRequest = FastifyRequest<{
  Querystring: Query;
  Params: { readonly tenant?: string; readonly id?: string; readonly delivery?: string };
}>;

/** What a route sees of a request. */
export class Call {
  readonly #request: RestRequest;
  #body: Body | undefined;
  /** Of the tenant that calls. */
  readonly tenantId: number | undefined;
  /** Faults of parameters and body together. */
  readonly errors = new FieldErrorList();

  constructor(request: RestRequest, caller?: Caller) {
    this.#request = request;
    this.tenantId = caller?.principal?.tenant.id;
  }

  get query(): Query {
    return this.#request.query;
  }

  body(): Body {
    this.#body ??= new Body(this.#request.body, this.errors);
    return this.#body;
  }

  /** The `{id}` of the path. What is no number is the id of nothing. @throws NOT_FOUND */
  id(what: string): string {
    const { id = '' } = this.#request.params;
    if (!/^\d{1,15}$/.test(id)) throw notFound(what);
    return id;
  }

  /** As `id`, for objects that are known by the network's ids, which are longer than ours. */
  networkId(what: string): string {
    const { id = '' } = this.#request.params;
    if (!/^\d{1,32}$/.test(id)) throw notFound(what);
    return id;
  }

  /** As `id`, for objects whose ids are UUIDs. */
  uuid(what: string, parameter: keyof RestRequest['params'] = 'id'): string {
    const id = this.#request.params[parameter] ?? '';
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw notFound(what);
    return id;
  }

  /** `Idempotency-Key`, bare or as the quoted string of the IETF draft. @throws VALIDATION_ERROR beyond 255 characters */
  get idempotencyKey(): string | undefined {
    const header = this.#request.headers['idempotency-key'];
    if (typeof header !== 'string') return undefined;
    const key = header.trim().replace(/^"(.*)"$/, '$1');
    if (key.length > 255) throw invalid({ 'Idempotency-Key': ['May have at most 255 characters.'] });
    return key === '' ? undefined : key;
  }

  /** Whether `If-None-Match` names what would be answered (RFC 9110 §13.1.2). */
  hasAlready(etag: string): boolean {
    return namesEtag(this.#request.headers['if-none-match'], etag);
  }

  /** `Prefer: respond-async` (RFC 7240 §4.1). */
  get prefersAsync(): boolean {
    const { prefer } = this.#request.headers;
    return prefer !== undefined && /(^|[,;])\s*respond-async\s*([,;]|$)/i.test(String(prefer));
  }

  /** The absolute address of this list, without parameters. */
  get listUrl(): string {
    return this.address(this.#request.url.split('?', 1)[0] ?? '');
  }

  /** The absolute address of another page of this list, with all other parameters as they were sent. */
  pageUrl(page: number): string {
    const [, search = ''] = this.#request.url.split('?', 2);
    const others = search.split('&').filter(parameter => parameter !== '' && !/^page(=|$)/.test(parameter));
    return `${this.listUrl}?${[...others, `page=${page}`].join('&')}`;
  }

  /** The absolute address of a path on this server; an address stays as it is. */
  address(path: string): string {
    const { protocol, host } = this.#request;
    // Without a Host header (HTTP/1.0) there is nothing absolute to say.
    return path.startsWith('/') && host ? `${protocol}://${host}${path}` : path;
  }
}
