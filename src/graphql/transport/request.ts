import { GraphQLError } from 'graphql';

/** The parameters of a GraphQL request (GraphQL over HTTP §5.1). */
export interface GraphQLRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A malformed request: HTTP status 400 whatever the client accepts. */
export class BadRequest extends GraphQLError {
  constructor(message: string) {
    super(message, { extensions: { code: 'BAD_REQUEST' } });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** @throws BadRequest naming the parameter */
export function parseRequest(body: unknown): GraphQLRequest {
  if (!isObject(body)) throw new BadRequest('The body must be a JSON object with the parameter query.');
  const { query, operationName, variables, extensions } = body;
  if (typeof query !== 'string' || query === '') throw new BadRequest('The parameter query must be a string.');
  if (operationName != null && typeof operationName !== 'string')
    throw new BadRequest('The parameter operationName must be a string.');
  if (variables != null && !isObject(variables)) throw new BadRequest('The parameter variables must be an object.');
  if (extensions != null && !isObject(extensions)) throw new BadRequest('The parameter extensions must be an object.');
  return { query, operationName: operationName || undefined, variables: variables ?? {} };
}

/** Reads the URL parameters of a GET request. @throws BadRequest naming the parameter */
export function parseGetRequest(query: unknown): GraphQLRequest {
  const { variables, ...others } = isObject(query) ? query : {};
  return parseRequest({
    ...others,
    extensions: undefined,
    variables: typeof variables === 'string' && variables !== '' ? fromJson(variables) : undefined,
  });
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest('The parameter variables must be JSON.');
  }
}

/**
 * Returns what is wrong with the URL parameters of a request. Yoga would report malformed JSON as an internal error, and use
 * the first of a repeated parameter, which may not be the one that was charged.
 */
export function findParameterFault(query: unknown): BadRequest | undefined {
  if (!isObject(query)) return undefined;
  for (const name of ['query', 'operationName', 'variables', 'extensions'])
    if (Array.isArray(query[name])) return new BadRequest(`The parameter ${name} may be given only once.`);
  for (const name of ['variables', 'extensions']) {
    for (const text of [query[name]].flat())
      if (typeof text === 'string' && text !== '' && !isJson(text))
        return new BadRequest(`The parameter ${name} must be JSON.`);
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
