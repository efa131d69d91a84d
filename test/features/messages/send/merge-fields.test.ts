import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyFields, mergeFields, unknownFields } from '../../../../src/features/messages/send/merge-fields.ts';

const person = {
  firstname: 'Ana',
  lastname: 'Silva',
  email: null,
  phone: '+14155550123',
  company: '',
  city: 'Lisboa',
  state: null,
  country_id: 620,
};

test('a merge field without a value is replaced by its fallback, or named', () => {
  expect(mergeFields('Hi @{contact_email|there}, @{contact_first_name|you}@{contact_email|}', person)).toBe(
    'Hi there, Ana',
  );
  expect(emptyFields('@{contact_email} @{contact_email} @{contact_email|x} @{contact_first_name}', person)).toEqual([
    'contact_email',
  ]);
  expect(emptyFields('@{contact_first_name}', { ...person, firstname: '  ' })).toEqual(['contact_first_name']);
  expect(unknownFields('@{nope|x}')).toEqual(['nope']);
  expect(mergeFields('@{contact_email|@{contact_first_name}}', person)).toBe('@{contact_email|Ana}');
});

test('merge fields are filled from the contact, and one without a value is removed', () => {
  expect(
    mergeFields('Hi @{contact_first_name} of @{contact_city}, @{contact_country} <@{contact_email}>', person),
  ).toBe('Hi Ana of Lisboa, Portugal <>');
  expect(mergeFields('@{contact_full_name} @{contact_phone}', person)).toBe('Ana Silva +14155550123');
  expect(unknownFields('@{contact_first_name} @{nope} @{also_not}')).toEqual(['nope', 'also_not']);
  for (const inherited of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(unknownFields(`@{${inherited}}`)).toEqual([inherited]);
    expect(mergeFields(`@{${inherited}}`, person)).toBe(`@{${inherited}}`);
  }
});

test('merged values are not searched for merge fields', () => {
  fc.assert(
    fc.property(fc.constantFrom('@{contact_last_name}', '@{contact_email}', '@{'), fc.string(), (inner, rest) => {
      expect(mergeFields(`@{contact_first_name}${rest.replaceAll('@', '')}`, { ...person, firstname: inner })).toBe(
        inner + rest.replaceAll('@', ''),
      );
    }),
  );
});
