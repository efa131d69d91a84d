import { Client, type Exchange, makeResult, type Operation, type OperationResult } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { filter, makeSubject, merge, pipe, tap } from 'wonka';
import { inOrder } from '../../src/client/urql.ts';

/** A client whose network is the test: `answer` answers an operation, by its name, when and as often as it likes. */
export function createScriptedClient(settings: Partial<CacheExchangeOpts>) {
  const operations = new Map<string, Operation>();
  const answers = makeSubject<OperationResult>();
  const network: Exchange = () => forwarded =>
    merge([
      answers.source,
      pipe(
        forwarded,
        tap(operation => {
          const [definition] = operation.query.definitions;
          if (operation.kind !== 'teardown' && definition && 'name' in definition)
            operations.set(definition.name?.value ?? '', operation);
        }),
        filter(() => false),
      ) as never,
    ]);
  const client = new Client({
    url: 'http://network.invalid',
    preferGetMethod: false,
    exchanges: [inOrder(cacheExchange(settings)), network],
  });
  const answer = (name: string, data: object, isStream = false): void => {
    const operation = operations.get(name);
    if (!operation) throw new Error(`${name} was not requested.`);
    answers.next(makeResult(operation, { data, hasNext: isStream }));
  };
  return { client, answer };
}
