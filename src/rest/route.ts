import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { DocumentNode } from 'graphql';
import type { ErrorCode } from '../errors.ts';
import type { Call } from './call.ts';
import type { AnyListFields } from './list-query.ts';
import type { Fields, Shape } from './openapi/shape.ts';

/** What a route answers, before its dialect dresses it. */
export interface Answer {
  /** Where it is not the one of the route's row. */
  readonly status?: number;
  readonly message: string;
  readonly data: unknown;
  /** What is kept for a repeated request in place of `data`, where that tells a secret. */
  readonly kept?: unknown;
  /** Of a list: which page of how many rows. */
  readonly page?: { readonly first: number; readonly offset: number; readonly total: number };
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request, read: the variables of the route's document, and what its result is on the wire. */
export interface Plan<Data, Asked> {
  readonly variables: Asked;
  respond(data: Data): Answer;
  /** Fields that errors of GraphQL name otherwise than all routes do. */
  readonly names?: Readonly<Record<string, string>>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What the OpenAPI document cannot know by itself. From the route's GraphQL document it knows the operation's id and summary (the
 * description of the field it calls), its scope, its body (`$input`, by the wire's names), its answer (what is selected), what `fields` and
 * `include` choose among, and whether it takes an idempotency key. So a row says only what differs.
 */
export interface Described {
  /** Where several routes use its document, whose name it is otherwise. */
  readonly operationId?: string;
  /** In a few words, where the description of the document's field does not fit. */
  readonly summary?: string;
  /** What else a caller should know, as Markdown. */
  readonly notes?: string;
  /** Of the usual answer; 200 when nothing is said. It is the one that is sent. */
  readonly status?: 200 | 201;
  /** What is to be made may be there already: it is then answered with 200. */
  readonly found?: true;
  /** Of a list: what it is filtered and sorted by. */
  readonly list?: AnyListFields;
  /** The path's parameters, where they are not the `databaseId` of what the document's field answers. */
  readonly params?: Fields;
  /** The body, where it is not the document's `$input`. A shape with files makes it a multipart body too. */
  readonly body?: Shape;
  /** A body that shows how it is used; it fits the shape (tested). */
  readonly example?: object;
  /** The answer's `data`, where it is not what the document selects; of a list, one of its rows. */
  readonly answer?: Shape;
  /** The answer is `data` alone, without the envelope. */
  readonly bare?: true;
  /** `Prefer: respond-async` is heard, and answered 202. */
  readonly async?: true;
  /** Objects that rows always have where the version lets nobody choose; see `ApiDescription.rows`. */
  readonly always?: readonly string[];
  /** Where the next version does the same; its own path where nothing is said. */
  readonly successor?: string;
  /** Refusals beside those that all routes of its kind have. */
  readonly errors?: readonly ErrorCode[];
}

/** A row of the route table: a method, a path, and the GraphQL operation that does the work. */
export interface RouteRow<Data, Asked> extends Described {
  readonly method: Method;
  readonly path: string;
  readonly document: TypedDocumentNode<Data, Asked>;
  /** Reads and checks what was asked. One function gives variables and answer, because both follow from the same parameters. */
  plan(call: Call): Plan<Data, Asked>;
}

/** A row whose types have been checked and can be forgotten. */
export interface Route extends Described {
  readonly method: Method;
  readonly path: string;
  readonly document: DocumentNode;
  /** What else it may execute, where a request says which operation does the work. */
  readonly others?: readonly DocumentNode[];
  plan(call: Call): Planned;
}

/** A plan, and the document that it is for. */
export interface Planned extends Plan<unknown, object> {
  readonly document: DocumentNode;
}

export const route = <Data, Asked extends object>(row: RouteRow<Data, Asked>): Route => ({
  ...row,
  plan(call) {
    const { variables, respond, names } = row.plan(call);
    call.errors.throwIfAny();
    // The document's own type says what its result is; the executor, which runs any document, cannot.
    return { document: row.document, variables, respond: data => respond(data as Data), ...(names && { names }) };
  },
});

/**
 * A route whose requests say which operation does the work. It stands in the table, and is described, as the first of them with what
 * `described` says otherwise.
 */
export const oneOf = (
  described: Described,
  [first, ...others]: readonly [Route, ...Route[]],
  choose: (call: Call) => Route,
): Route => ({
  ...first,
  ...described,
  others: others.map(({ document }) => document),
  plan: call => choose(call).plan(call),
});
