import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSharedPayloads } from '../../../src/graphql/transport/shared-payloads.ts';

const next = (id: string, payload: unknown): string => JSON.stringify({ id, type: 'next', payload });

test('a filled message is byte for byte the message with the serialized result', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.dictionary(fc.string(), fc.jsonValue()), (id, data) => {
      const placeholders = createSharedPayloads().forSocket();
      const result = { data };
      expect(placeholders.fill(next(id, placeholders.placeholder(result)))).toBe(next(id, result));
    }),
  );
});

test('a message of a subscription with a long id is filled', () => {
  const placeholders = createSharedPayloads().forSocket();
  const [id, result] = ['i'.repeat(5_000), { data: { a: 1 } }];
  expect(placeholders.fill(next(id, placeholders.placeholder(result)))).toBe(next(id, result));
});

test('messages of several subscriptions on one socket are filled with their own results, in any order', () => {
  const placeholders = createSharedPayloads().forSocket();
  const [first, second] = [{ data: { a: 1 } }, { data: { b: 2 } }];
  const [one, two] = [next('1', placeholders.placeholder(first)), next('2', placeholders.placeholder(second))];
  expect(placeholders.fill(two)).toBe(next('2', second));
  expect(placeholders.fill(one)).toBe(next('1', first));
});

test('results and subscription ids that look like a placeholder are left unchanged', () => {
  const placeholders = createSharedPayloads().forSocket();
  placeholders.placeholder({ data: { secret: true } });
  for (const data of [{ '@': 1 }, { json: { payload: { '@': 1 } } }, { json: ',"payload":{"@":1}}' }])
    expect(placeholders.fill(next('x', { data }))).toBe(next('x', { data }));
  // The id is chosen by the client.
  expect(placeholders.fill(next(',"payload":{"@":1}}', { data: null }))).toBe(
    next(',"payload":{"@":1}}', { data: null }),
  );
});
