import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { DocumentNode } from 'graphql';
import type { Call } from './call.ts';

/** What a route answers, before its dialect dresses it. */
export interface Answer {
  readonly status?: number;
  readonly message: string;
  readonly data: unknown;
  /** Of a list: which page of how many rows. */
  readonly page?: { readonly first: number; readonly offset: number; readonly total: number };
  /** True: `data` is the whole body. */
  readonly bare?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request, read: the variables of the route's document, and what its result is on the wire. */
export interface Plan<Data, Asked> {
  readonly variables: Asked;
  respond(data: Data): Answer;
  /** Fields that errors of GraphQL name otherwise than all routes do. */
  readonly names?: Readonly<Record<string, string>>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A row of the route table: a method, a path, and the GraphQL operation that does the work. */
export interface RouteRow<Data, Asked> {
  readonly method: Method;
  readonly path: string;
  readonly document: TypedDocumentNode<Data, Asked>;
  /** Reads and checks what was asked. One function gives variables and answer, because both follow from the same parameters. */
  plan(call: Call): Plan<Data, Asked>;
}

/** A row whose types have been checked and can be forgotten. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly document: DocumentNode;
  plan(call: Call): Plan<unknown, object>;
}

export const route = <Data, Asked extends object>(row: RouteRow<Data, Asked>): Route => ({
  method: row.method,
  path: row.path,
  document: row.document,
  plan(call) {
    const { variables, respond, names } = row.plan(call);
    call.errors.throwIfAny();
    // The document's own type says what its result is; the executor, which runs any document, cannot.
    return { variables, respond: data => respond(data as Data), ...(names && { names }) };
  },
});
