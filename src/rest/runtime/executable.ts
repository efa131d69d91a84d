import type { DocumentNode } from 'graphql';
import type { Operation } from '../../graphql/execution/documents.ts';
import type { Plan, Route } from './route.ts';

/** A route with its prepared documents. */
export interface Executable {
  readonly route: Route;
  readonly operations: ReadonlyMap<DocumentNode, Operation>;
}

/** The prepared operation of a plan of the route. @throws Error for a document that the route does not list */
export function operationOfPlan({ operations }: Pick<Executable, 'operations'>, { document }: Plan): Operation {
  const operation = operations.get(document);
  if (!operation) throw new Error('The route planned a document that it does not list.');
  return operation;
}
