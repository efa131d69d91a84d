import type { RestBase, TestGateway, TestTenant } from '../support/gateway.ts';

/** An answer with its body parsed and its text as it came. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly body: any;
}

export type Rest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<RestAnswer>;

/** Calls version 1 as one tenant. */
export const legacyOf = (gateway: TestGateway, { slug, token }: Pick<TestTenant, 'slug' | 'token'>): Rest =>
  restOf(gateway, { token }, { version: 'v1', tenant: slug });

/** Calls the interface as one tenant. */
export function restOf(gateway: TestGateway, { token }: Pick<TestTenant, 'token'>, base?: RestBase): Rest {
  return async (method, path, body, headers) => {
    const response = await gateway.rest(method, path, body, { authorization: `Bearer ${token}`, ...headers }, base);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
