import { GraphQLError } from 'graphql';
import { isObject } from '../../platform/json.ts';

/** The parameters of a GraphQL request (GraphQL over HTTP §5.1). */
export interface GraphQLRequest {
  /** Undefined if the request names its document by a digest. */
  readonly query: string | undefined;
  /** SHA-256 of a published document in hexadecimal, from `documentId`. */
  readonly documentHash: string | undefined;
  /** SHA-256 of the document in hexadecimal: Apollo's automatic persisted queries. */
  readonly persistedHash: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A malformed request: HTTP status 400 whatever the client accepts. */
export class BadRequest extends GraphQLError {
  constructor(message: string) {
    super(message, { extensions: { code: 'BAD_REQUEST' } });
  }
}

/** @throws BadRequest naming the parameter */
export function parseRequest(body: unknown): GraphQLRequest {
  if (!isObject(body)) throw new BadRequest('The body must be a JSON object with the parameter query.');
  const { operationName, variables, extensions } = body;
  if (extensions != null && !isObject(extensions)) throw new BadRequest('The parameter extensions must be an object.');
  const documentHash = documentHashOf(body['documentId']);
  const persistedHash = persistedHashOf(extensions?.['persistedQuery']);
  // Clients of graphql-ws cannot leave it out.
  const query = body['query'] || undefined;
  if (query !== undefined && documentHash !== undefined)
    throw new BadRequest('Only one of the parameters query and documentId may be given.');
  const isNamed = query === undefined && (documentHash !== undefined || persistedHash !== undefined);
  if (!isNamed && (typeof query !== 'string' || query === ''))
    throw new BadRequest('The parameter query must be a string.');
  if (operationName != null && typeof operationName !== 'string')
    throw new BadRequest('The parameter operationName must be a string.');
  if (variables != null && !isObject(variables)) throw new BadRequest('The parameter variables must be an object.');
  return {
    query: query as string | undefined,
    documentHash,
    persistedHash,
    operationName: operationName || undefined,
    variables: variables ?? {},
  };
}

/** Reads `documentId` (GraphQL over HTTP, appendix A). */
function documentHashOf(documentId: unknown): string | undefined {
  if (documentId == null || documentId === '') return undefined;
  const [, digest] = /^sha256:([0-9a-f]{64})$/i.exec(typeof documentId === 'string' ? documentId : '') ?? [];
  if (digest === undefined)
    throw new BadRequest('The parameter documentId must be sha256: and a SHA-256 in hexadecimal.');
  return digest.toLowerCase();
}

/** Reads `extensions.persistedQuery` of Apollo's automatic persisted queries. */
function persistedHashOf(persistedQuery: unknown): string | undefined {
  if (persistedQuery == null) return undefined;
  const { version, sha256Hash } = isObject(persistedQuery) ? persistedQuery : {};
  if (version !== 1) throw new BadRequest('The parameter extensions.persistedQuery.version must be 1.');
  if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256Hash))
    throw new BadRequest('The parameter extensions.persistedQuery.sha256Hash must be a SHA-256 in hexadecimal.');
  return sha256Hash.toLowerCase();
}

/** Reads the URL parameters of a GET request. @throws BadRequest naming the parameter */
export function parseGetRequest(query: unknown): GraphQLRequest {
  const { variables, extensions, ...others } = isObject(query) ? query : {};
  return parseRequest({
    ...others,
    variables: fromJson('variables', variables),
    extensions: fromJson('extensions', extensions),
  });
}

function fromJson(name: string, text: unknown): unknown {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest(`The parameter ${name} must be JSON.`);
  }
}

/**
 * Returns the first fault of the URL parameters of a request. Yoga would report malformed JSON as an internal error, and use the first
 * value of a repeated parameter, which may not be the one that was charged.
 */
export function findParameterFault(query: unknown): BadRequest | undefined {
  if (!isObject(query)) return undefined;
  for (const name of ['query', 'documentId', 'operationName', 'variables', 'extensions'])
    if (Array.isArray(query[name])) return new BadRequest(`The parameter ${name} may be given only once.`);
  for (const name of ['variables', 'extensions']) {
    try {
      fromJson(name, query[name]);
    } catch (error) {
      if (error instanceof BadRequest) return error;
      throw error;
    }
  }
  return undefined;
}
