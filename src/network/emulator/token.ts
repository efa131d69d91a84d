import type { Request } from './reply.ts';

/** The access token of a request: `Authorization: Bearer …`, or `access_token` in the query as the Graph API also takes it. */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers['authorization'];
  const match = typeof header === 'string' ? /^Bearer\s+(\S+)$/i.exec(header) : null;
  return match?.[1] ?? request.query.get('access_token') ?? undefined;
}
