import type { CacheExchangeOpts } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { CONNECTIONS, KEYLESS_TYPES, POSSIBLE_TYPES } from './schema.generated.ts';

/**
 * Settings of urql's normalized cache: `cacheExchange(graphcacheSettings)`. Objects without `id` are stored within their parent,
 * pages of a connection are joined, and fragments on interfaces and unions are matched; `schema` may be added.
 */
export const graphcacheSettings = {
  keys: Object.fromEntries(KEYLESS_TYPES.map(type => [type, () => null])),
  possibleTypes: Object.fromEntries(Object.entries(POSSIBLE_TYPES).map(([type, names]) => [type, [...names]])),
  resolvers: Object.fromEntries(
    Object.entries(CONNECTIONS).map(([type, fields]) => [
      type,
      Object.fromEntries(Object.keys(fields).map(field => [field, relayPagination()])),
    ]),
  ),
} satisfies Partial<CacheExchangeOpts>;
