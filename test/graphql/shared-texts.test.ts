import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSharedTexts } from '../../src/graphql/shared-texts.ts';

const next = (id: string, payload: unknown): string => JSON.stringify({ id, type: 'next', payload });

test('a marked message becomes, to the byte, what would have been made of the answer itself', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.dictionary(fc.string(), fc.jsonValue()), (id, data) => {
      const places = createSharedTexts().placesOf();
      const result = { data };
      expect(places.fill(next(id, places.mark(result)))).toBe(next(id, result));
    }),
  );
});

test('messages of several subscriptions on one socket find their own texts, in any order', () => {
  const places = createSharedTexts().placesOf();
  const [first, second] = [{ data: { a: 1 } }, { data: { b: 2 } }];
  const [one, two] = [next('1', places.mark(first)), next('2', places.mark(second))];
  expect(places.fill(two)).toBe(next('2', second));
  expect(places.fill(one)).toBe(next('1', first));
});

test('an answer that looks like a mark stays what it is', () => {
  const places = createSharedTexts().placesOf();
  places.mark({ data: { secret: true } });
  for (const data of [{ '@': 1 }, { json: { payload: { '@': 1 } } }, { json: ',"payload":{"@":1}}' }])
    expect(places.fill(next('x', { data }))).toBe(next('x', { data }));
  // The id is the client's own text.
  expect(places.fill(next(',"payload":{"@":1}}', { data: null }))).toBe(next(',"payload":{"@":1}}', { data: null }));
});
