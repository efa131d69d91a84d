import { type Exchange, makeOperation, type Operation } from '@urql/core';
import type { CacheExchangeOpts } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { map, pipe } from 'wonka';
import { createStepKeeper } from './message-steps.ts';
import { CONNECTIONS, KEYLESS_TYPES, POSSIBLE_TYPES } from './schema.generated.ts';

/**
 * Settings of urql's normalized cache: `inOrder(cacheExchange(graphcacheSettings))`. Objects without `id` are stored within their parent,
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

/**
 * Makes Graphcache show the latest state of each message, in whatever order answers and events arrive: an event is written over all answers
 * that came before it, and an answer that was read before an event does not take a message back.
 *
 * While an operation runs, Graphcache keeps what comes after it in layers (`reserveLayer` of its `store/data.ts`). A subscription has one
 * layer, below those of the queries that began after its first event, so that their answers hid its later events, for good once the layers
 * were merged. Here every event is an operation of its own to the cache.
 */
export const inOrder =
  (cache: Exchange): Exchange =>
  input => {
    const keepSteps = createStepKeeper();
    const subscriptions = new WeakMap<Operation, Operation>();
    // Keys of urql's own operations are positive.
    let key = 0;

    function forEvent(subscription: Operation): Operation {
      key -= 1;
      const event = makeOperation('subscription', { ...subscription, key }, subscription.context);
      subscriptions.set(event, subscription);
      return event;
    }

    const cached = cache({
      ...input,
      forward: operations =>
        pipe(
          input.forward(operations),
          map(result => {
            keepSteps(result.data);
            const { operation } = result;
            return operation.kind === 'subscription' ? { ...result, operation: forEvent(operation) } : result;
          }),
        ),
    });
    return operations =>
      pipe(
        cached(operations),
        map(result => ({ ...result, operation: subscriptions.get(result.operation) ?? result.operation })),
      );
  };
