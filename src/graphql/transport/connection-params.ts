/** Parameters that a client sent in `connection_init` or in a `ping`. */
export type ConnectionParams = Readonly<Record<string, unknown>> | undefined;

/** Names under which clients send the token, in lower case; `authToken` is used in Apollo's documentation. */
const NAMES = ['authorization', 'token', 'authtoken'] as const;

/**
 * Returns the parameters' token as an Authorization header. Clients send it as `authorization`, `token` or `authToken`, in any case,
 * with or without `Bearer`, at the top level or under `headers`.
 * @returns undefined if there is no token; a header that no token matches if its value is not a text
 */
export function authorizationOf(parameters: ConnectionParams): string | undefined {
  for (const level of [parameters, entryOf(parameters, 'headers')]) {
    for (const name of NAMES) {
      const header = headerOf(entryOf(level, name));
      if (header !== undefined) return header;
    }
  }
  return undefined;
}

/** Returns the cursor after which the streams of the connection start, if one is given. */
export function afterOf(parameters: ConnectionParams): string | undefined {
  const after = entryOf(parameters, 'after');
  return typeof after === 'string' && after !== '' ? after : undefined;
}

function entryOf(object: unknown, name: string): unknown {
  if (object === null || typeof object !== 'object') return undefined;
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}

/** Pages without a signed-in user send an empty text, or `Bearer` alone. */
function headerOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return '';
  const text = value.trim();
  if (text === '' || /^Bearer$/i.test(text)) return undefined;
  return text.includes(' ') ? text : `Bearer ${text}`;
}
