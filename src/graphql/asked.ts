import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Cost } from '../authenticate.ts';
import type { Context } from '../context.ts';
import type { Operation } from './documents.ts';
import type { Caller, Kernel, Variables } from './kernel.ts';
import { pointsOf } from './limits.ts';
import type { GraphQLRequest } from './request.ts';

/** An operation that may be executed once it is paid for. */
export interface Asked {
  readonly operation: Operation;
  readonly variables: Variables;
  readonly context: Context;
  /** Of the rate limits. */
  readonly points: number;
}

/** What cannot be executed costs a point all the same: it had to be read. */
export interface Unanswerable {
  readonly errors: readonly GraphQLError[];
  readonly points: 1;
}

/** Parses, validates and measures what is asked. Nothing is executed and nothing charged. */
export function readOperation(
  kernel: Kernel,
  { query, operationName, variables }: GraphQLRequest,
  caller: Caller,
): Asked | Unanswerable {
  const prepared = kernel.prepare(query, operationName);
  if ('errors' in prepared) return { errors: prepared.errors, points: 1 };
  const { operation } = prepared;
  const context = kernel.createContext(caller);
  const refusal = kernel.refusal(operation, variables, context);
  if (refusal) return { errors: [refusal], points: 1 };
  return { operation, variables, context, points: pointsOf(operation.measured, variables) };
}

/** An answer says what it cost. */
export const withCost = (result: ExecutionResult, cost: Cost): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, cost },
});

/** Where errors stand alone, without a result around them (a message of a socket), the first of them says it. */
export const errorsWithCost = ([first, ...others]: readonly GraphQLError[], cost: Cost): GraphQLError[] =>
  first ? [saying(first, cost), ...others] : others;

/** Not on the error itself: those of a document are kept, and told to everybody who sends it. */
const saying = (error: GraphQLError, cost: Cost): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...error.extensions, cost },
  });
