import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Cost } from '../../http/authenticate.ts';
import type { Context } from '../../schema/context.ts';
import type { Operation, Variables } from './documents.ts';
import { withExtensions } from './errors.ts';
import type { Caller, Kernel } from './kernel.ts';
import { pointsOf } from './limits.ts';
import { BadRequest, type GraphQLRequest } from './request.ts';
import type { RequestedText } from './request-text.ts';

/** A validated operation, to be executed once it is charged. */
export interface ReadyOperation {
  readonly operation: Operation;
  /** The document. */
  readonly text: string;
  readonly variables: Variables;
  readonly context: Context;
  /** Its cost against the rate limits. */
  readonly points: number;
}

/** An invalid operation costs one point, because it was parsed. */
export interface InvalidOperation {
  readonly errors: readonly GraphQLError[];
  readonly points: 1;
}

/**
 * Finds, parses, validates and measures an operation. Executes and charges nothing.
 * @throws BadRequest
 */
export async function readOperation(
  kernel: Kernel,
  request: GraphQLRequest,
  caller: Caller,
): Promise<ReadyOperation | InvalidOperation> {
  const requested = await findText(kernel, request, caller);
  return 'errors' in requested ? requested : prepareOperation(kernel, request, requested, caller);
}

/**
 * Finds the document of a request.
 * @returns the reason if the caller may not execute it, or its digest is not known
 * @throws BadRequest
 */
export async function findText(
  kernel: Kernel,
  request: GraphQLRequest,
  { principal }: Caller,
): Promise<RequestedText | InvalidOperation> {
  try {
    return await kernel.textOf(request, principal);
  } catch (error) {
    if (!(error instanceof GraphQLError) || error instanceof BadRequest) throw error;
    return { errors: [error], points: 1 };
  }
}

/** Parses, validates and measures an operation whose document was found. */
export function prepareOperation(
  kernel: Kernel,
  request: GraphQLRequest,
  { text, isPublished }: RequestedText,
  caller: Caller,
): ReadyOperation | InvalidOperation {
  const { operationName, variables } = request;
  const prepared = kernel.prepare(text, operationName, isPublished);
  if ('errors' in prepared) return { errors: prepared.errors, points: 1 };
  const { operation } = prepared;
  const context = kernel.createContext(caller);
  const refusal = kernel.refusal(operation, variables, context);
  if (refusal) return { errors: [refusal], points: 1 };
  if (caller.principal) kernel.saveText(request);
  return { operation, text, variables, context, points: pointsOf(operation.measured, variables) };
}

/** Adds the cost to a result's extensions. */
export const withCost = (result: ExecutionResult, cost: Cost): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, cost },
});

/** Adds the cost to the first error, where errors are sent without a result (the `error` message of a socket). */
export const errorsWithCost = ([first, ...others]: readonly GraphQLError[], cost: Cost): GraphQLError[] =>
  first ? [withExtensions(first, { cost }), ...others] : others;
