import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { DocumentNode } from 'graphql';
import type { z } from 'zod';
import { type ErrorCode, notFound } from '../../core/errors.ts';
import type { AnswerSchema } from '../openapi/schema.ts';
import type { Call, IdKind } from './call.ts';
import { readBody } from './fields.ts';
import { type AnyListFields, type ListArguments, type ListFields, readList, readShown } from './query.ts';
import { type Switches, switchesOf, switchOf } from './sparse.ts';

/** The response of a route, before the envelope of its version. */
export interface RouteResponse {
  /** If it differs from the route's. */
  readonly status?: number;
  readonly message: string;
  readonly data: unknown;
  /** Stored for repeated requests instead of `data` if that contains a secret. */
  readonly storedData?: unknown;
  /** Set for a list: the position of the page among all rows. */
  readonly page?: { readonly first: number; readonly offset: number; readonly total: number };
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether a route changes one object and so supports `If-Match`: the GET of the same path has the object's tag. */
export const isChange = ({ method, path }: Pick<Route, 'method' | 'path'>): boolean =>
  (method === 'PATCH' || method === 'PUT' || method === 'DELETE') && path.endsWith('/:id');

/** A page of a list as both versions describe it. `from` and `to` are null for a page beyond the end. */
export const pageOf = ({ first, offset, total }: NonNullable<RouteResponse['page']>, rows: number) => ({
  current_page: offset / first + 1,
  per_page: first,
  total,
  last_page: Math.max(1, Math.ceil(total / first)),
  from: rows > 0 ? offset + 1 : null,
  to: rows > 0 ? offset + rows : null,
});

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Names of fields in GraphQL's errors, with those of this route. */
export type Names = Readonly<Record<string, string>>;

/**
 * What the OpenAPI document cannot derive. From the route's GraphQL document it derives the operation's id, summary (the description
 * of the field it calls) and scope, its response (the selection), `fields` and `include`, and whether it takes an idempotency key.
 */
export interface Described {
  /** Required where several routes use one document, whose name it is otherwise. */
  readonly operationId?: string;
  /** In place of the description of the document's field. */
  readonly summary?: string;
  /** Further description, as Markdown. */
  readonly notes?: string;
  /** Status of a success; 200 by default. */
  readonly status?: 200 | 201;
  /** Status 200 is possible too, for an object that existed already. */
  readonly mayExist?: true;
  /** Schemas of the path's parameters, where they are not the `databaseId` of the object that the document's field returns. */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  /** A body that fits the schema (tested). */
  readonly example?: object;
  /** The answer's `data`, where it is not the document's selection; of a list, one of its rows. */
  readonly answer?: AnswerSchema;
  /** The answer is `data` alone, without the envelope. */
  readonly withoutEnvelope?: true;
  /** GraphQL input types within the document's input whose fields describe those of the body. */
  readonly inputTypes?: readonly string[];
  /** Supports `Prefer: respond-async`, with status 202. */
  readonly async?: true;
  /** Included objects that the answer always shows. */
  readonly always?: readonly string[];
  /** The path in the next version, where it differs. */
  readonly successor?: string;
  /**
   * Returns the time of the object's last change from the data of the GET of the same path. With `If-Match`, the mutation gets it as
   * `unchangedSince`, so that a change between the comparison of tags and the mutation is detected.
   */
  readonly readAt?: (data: unknown) => string | undefined;
  /** Errors in addition to those of every route of its kind. */
  readonly errors?: readonly ErrorCode[];
}

/** Which request a route serves, and how it is read. */
interface Address<Body extends z.ZodType> extends Described {
  readonly method: Method;
  readonly path: string;
  /** The type of the object that `:id` in the path identifies, as errors name it. */
  readonly resource?: string;
  readonly idKind?: IdKind;
  /** Parses the body, types it, and is its schema in the OpenAPI document. With a field for a file it is multipart as well. */
  readonly body?: Body;
}

/** A request whose path, parameters and body have been read. */
export interface Input<Body, List = undefined> {
  readonly call: Call;
  /** The `:id` of the path. */
  readonly id: string;
  readonly list: List;
  readonly body: Body;
}

/** A GraphQL operation that serves a request. */
interface Operation<Data, Variables, Body, List> {
  readonly document: TypedDocumentNode<Data, Variables>;
  variables(input: Input<Body, List>): Variables;
  respond(data: Data, input: Input<Body, List>): RouteResponse;
  readonly names?: Names | ((input: Input<Body, List>) => Names);
}

type AnyOperation = Operation<unknown, object, unknown, unknown>;

/** Whether `fields` and `include` select the fields of rows, or rows are always complete. */
export type RowStyle = 'sparse' | 'complete';

/** An operation with its variables, ready to be executed. */
export interface Plan {
  readonly document: DocumentNode;
  readonly variables: object;
  respond(data: unknown): RouteResponse;
  readonly names: Names | undefined;
}

export interface Route extends Address<z.ZodType> {
  readonly list?: AnyListFields;
  /** The first one describes the route in the OpenAPI document. */
  readonly documents: readonly [DocumentNode, ...DocumentNode[]];
  /** @throws NOT_FOUND for an id of another form, VALIDATION_ERROR with all faults of parameters, body and `Idempotency-Key` */
  plan(call: Call, rows: RowStyle): Plan;
}

/** @throws NOT_FOUND for null, with the type of the object */
export function requireRow<T>(row: T | null | undefined, resource: string): T {
  if (row == null) throw notFound(resource);
  return row;
}

/** The answer of a list. */
export const listResponse = <Row>(
  message: string,
  { nodes, totalCount }: { readonly nodes: readonly Row[]; readonly totalCount: number },
  { first, offset }: { readonly first: number; readonly offset: number },
  rowOf: (row: Row) => unknown,
): RouteResponse => ({ message, data: nodes.map(row => rowOf(row)), page: { first, offset, total: totalCount } });

/** A row of the route table: a method, a path, and the GraphQL operation that serves it. */
export function route<
  Data,
  Variables extends object,
  Body extends z.ZodType = z.ZodUndefined,
  Filter = undefined,
  Sort extends string = never,
>(
  row: Address<Body> & {
    /** Filter and sort fields, for lists. */
    readonly list?: ListFields<Filter, Sort>;
  } & Operation<Data, Variables, z.output<Body>, ListArguments<Filter, Sort>>,
): Route {
  return planRoute(row as unknown as Address<z.ZodType> & { list?: AnyListFields }, [row as unknown as AnyOperation]);
}

/** A route whose body decides which operation serves it. The OpenAPI document describes it as the first. */
export const routeByBody = <Body extends z.ZodType>(
  row: Address<Body>,
  operations: readonly [AnyOperation, ...AnyOperation[]],
  choose: (body: z.output<Body>) => AnyOperation,
): Route => planRoute(row, operations, choose as (body: unknown) => AnyOperation);

/** One of the operations of a route by body. */
export const operation = <Data, Variables extends object, Body>(
  row: Operation<Data, Variables, Body, undefined>,
): AnyOperation => row as unknown as AnyOperation;

function planRoute(
  row: Address<z.ZodType> & { readonly list?: AnyListFields },
  operations: readonly [AnyOperation, ...AnyOperation[]],
  choose: (body: unknown) => AnyOperation = () => operations[0],
): Route {
  const [{ document }] = operations;
  const rowFields = switchesOf(document);
  const always: Switches = Object.fromEntries((row.always ?? []).map(name => [switchOf(name), true]));
  return {
    ...row,
    documents: [document, ...operations.slice(1).map(other => other.document)],
    plan(call, rows) {
      const id = row.resource !== undefined && row.path.includes(':id') ? call.id(row.resource, row.idKind) : '';
      const isSparse = rows === 'sparse' && !row.withoutEnvelope && rowFields.fields.length > 0;
      const shown = isSparse ? readShown(call.query, rowFields, call.errors, row.always) : always;
      const list = row.list && readList(call.query, row.list as ListFields<unknown, string>, call.errors);
      const body = row.body && readBody(row.body, call.request.body, call.errors);
      if (row.method !== 'GET' && row.method !== 'DELETE') call.checkIdempotencyKey();
      call.errors.throwIfAny();
      const input = { call, id, list, body };
      const { document: chosen, variables, respond, names } = choose(body);
      return {
        document: chosen,
        variables: { ...shown, ...variables(input) },
        respond: data => respond(data, input),
        names: typeof names === 'function' ? names(input) : names,
      };
    },
  };
}
