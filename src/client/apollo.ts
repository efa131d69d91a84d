import { relayStylePagination } from '@apollo/client/utilities';
import { CONNECTIONS, KEYLESS_TYPES, POSSIBLE_TYPES } from './schema.generated.ts';

/** An object type of the schema, as Apollo Client's cache sees it. */
interface TypePolicy {
  readonly keyFields?: false;
  readonly merge?: true;
  readonly fields?: Record<string, ReturnType<typeof relayStylePagination>>;
}

const policies = new Map<string, TypePolicy>(KEYLESS_TYPES.map(type => [type, { keyFields: false, merge: true }]));
for (const [type, fields] of Object.entries(CONNECTIONS)) {
  const paginated = Object.entries(fields).map(
    ([field, keyArgs]) => [field, relayStylePagination([...keyArgs])] as const,
  );
  policies.set(type, { ...policies.get(type), fields: Object.fromEntries(paginated) });
}

/**
 * Options of Apollo Client's cache: `new InMemoryCache(apolloCacheOptions)`. Objects without `id` are merged into their parent, and
 * pages of a connection are joined as long as filter, order and search stay the same.
 */
export const apolloCacheOptions = {
  possibleTypes: Object.fromEntries(Object.entries(POSSIBLE_TYPES).map(([type, names]) => [type, [...names]])),
  typePolicies: Object.fromEntries(policies),
};
