import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';

/** Every place of a type where a reader of the schema looks for words. */
function* placesOf(type: GraphQLNamedType): Generator<[place: string, description: string | null | undefined]> {
  yield [type.name, type.description];
  if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
  if (isInputObjectType(type))
    for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description];
  if (isObjectType(type) || isInterfaceType(type)) {
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const argument of field.args) yield [`${type.name}.${field.name}(${argument.name}:)`, argument.description];
    }
  }
}

const types = Object.values(schema.getTypeMap()).filter(
  type => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);
const places = types.flatMap(type => [...placesOf(type)]);

test('every type, field, argument, input field and enum value has a description', () => {
  expect(places.filter(([, description]) => !description?.trim()).map(([place]) => place)).toEqual([]);
});

test('descriptions are sentences', () => {
  const faults = places.filter(
    ([, description]) => description && !/^[\p{Lu}\d`"'(].*[.:!?`)]$/su.test(description.trim()),
  );
  expect(faults).toEqual([]);
});

test('descriptions say more than a word', () => {
  expect(places.filter(([, description]) => (description?.trim().length ?? 0) < 12)).toEqual([]);
});

test('a description is shared by at most three differently named places', () => {
  const names = new Map<string, Set<string>>();
  for (const [place, description] of places) {
    const shared = names.get(description ?? '') ?? new Set();
    names.set(description ?? '', shared.add(/\w+(?=:?\)?$)/.exec(place)?.[0] ?? place));
  }
  expect([...names].filter(([, { size }]) => size > 3)).toEqual([]);
});

test('every deprecation names its replacement', () => {
  for (const type of types) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()))
      if (field.deprecationReason != null)
        expect(field.deprecationReason, `${type.name}.${field.name}`).toMatch(/`\w+`/);
  }
});
