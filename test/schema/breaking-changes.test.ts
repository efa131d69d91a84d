import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakingChanges } from '../../.ci/check-schema.ts';

const BEFORE = `
  enum Color { RED GREEN }
  input Wish { color: Color }
  type Query { color(wish: Wish): Color old: String @deprecated(reason: "Use color.") }
`;

test('a schema that only adds breaks nothing', async () => {
  const after = `
    enum Color { RED GREEN BLUE }
    input Wish { color: Color size: Int }
    type Query { color(wish: Wish): Color old: String @deprecated(reason: "Use color.") more: Int }
  `;
  expect(await breakingChanges(BEFORE, after)).toEqual([]);
});

test.each([
  ['a field is removed', BEFORE.replace('old: String @deprecated(reason: "Use color.")', '')],
  ['an enum value is removed', BEFORE.replace('RED GREEN', 'RED')],
  ['the type of a field changes', BEFORE.replace('old: String', 'old: [String]')],
  ['an input field becomes required', BEFORE.replace('{ color: Color }', '{ color: Color! }')],
])('it breaks clients when %s', async (_what, after) => {
  expect(await breakingChanges(BEFORE, after)).toHaveLength(1);
});

test('the schema in the repository can be compared', async () => {
  const sdl = readFileSync('schema.graphql', 'utf8');
  expect(await breakingChanges(sdl, sdl)).toEqual([]);
});
