import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FieldErrorList } from '../../src/core/errors.ts';
import {
  alias,
  body,
  choice,
  country,
  dropUndefined,
  flag,
  id,
  ids,
  list,
  object,
  readBody,
  requiredList,
  requiredText,
  text,
} from '../../src/rest/runtime/fields.ts';

const TYPES = { lead: 'LEAD', guest: 'GUEST' } as const;

function read(shape: z.ZodRawShape, value: unknown) {
  const errors = new FieldErrorList();
  const result = readBody(body(shape), value, errors) as Record<string, unknown> | undefined;
  return { value: result, faults: errors.fields };
}
/** One field read from several values. */
const each = (field: z.ZodType, values: readonly unknown[]) =>
  values.map(value => read({ x: field }, { x: value }).value?.['x']);

describe('a body accepts several forms of a value', () => {
  it('text as text or as a number', () => {
    expect(each(text(), ['x', 12, null, undefined])).toEqual(['x', '12', null, undefined]);
  });

  it('the first of several names that is given', () => {
    const shape = { firstname: alias(text(), 'first_name') };
    expect(read(shape, { first_name: 'Ada' }).value).toEqual({ firstname: 'Ada' });
    expect(read(shape, { first_name: 'Ada', firstname: 'Eve' }).value).toEqual({ firstname: 'Eve' });
  });

  it('ids bare, quoted, and empty', () => {
    expect(each(id(), [7, '7', ' 7 ', '', null, undefined])).toEqual(['7', '7', '7', null, null, undefined]);
  });

  it('lists of ids as arrays, with commas, alone, and as the objects that our answers show', () => {
    expect(each(ids(), [[1, '2'], '1, 2', 1, [], '', [{ id: 1, name: 'VIP' }]])).toEqual([
      ['1', '2'],
      ['1', '2'],
      ['1'],
      [],
      [],
      ['1'],
    ]);
  });

  it('flags as words and digits', () => {
    expect(each(flag(), [true, 'true', '1', 1, 'FALSE', 0, '', undefined])).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      null,
      undefined,
    ]);
  });

  it('words in any case', () => {
    expect(each(choice(TYPES), [' Lead '])).toEqual(['LEAD']);
  });

  it('countries by any code of ISO 3166-1', () => {
    expect(each(country(), [276, '276', 'de', 'DEU', ''])).toEqual([276, 276, 276, 276, null]);
  });
});

describe('an invalid body', () => {
  it('has all its faults reported at once, by field', () => {
    const shape = {
      a: text(),
      b: id(),
      c: ids(),
      d: flag(),
      e: choice(TYPES),
      f: country(),
      g: requiredList(z.any()),
      h: object({ x: text() }),
      i: text(),
      j: requiredText(),
    };
    const sent = {
      a: {},
      b: 'x',
      c: [1, 'x'],
      d: 'perhaps',
      e: 'boss',
      f: 'Atlantis',
      g: 'no list',
      h: [],
      i: 'a\0b',
    };
    const { value, faults } = read(shape, sent);
    expect([value, Object.keys(faults)]).toEqual([undefined, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']]);
  });

  it('has the faults of a rule over several fields reported with those of single fields', () => {
    const errors = new FieldErrorList();
    const schema = body({ a: text(), b: id() }, ({ a }, add) => {
      if (a === 'x') add('a', 'Is x.');
    });
    expect(readBody(schema, { a: 'x', b: 'no id' }, errors)).toBeUndefined();
    expect(errors.fields).toEqual({ b: ['Must be an id: a whole number.'], a: ['Is x.'] });
  });

  it('has its faults reported under first names, and below objects and lists', () => {
    const person = { firstname: alias(text(), 'first_name') };
    const { faults } = read(
      { ...person, contact: object(person), people: list(body(person)) },
      { first_name: [], contact: { first_name: [] }, people: [{}, { first_name: [] }] },
    );
    expect(Object.keys(faults)).toEqual(['firstname', 'contact.firstname', 'people.1.firstname']);
  });

  it('includes a body that is not an object', () => {
    for (const value of [[], 'text', 5, null, true])
      expect(read({}, value).faults).toEqual({ body: ['Must be a JSON object.'] });
    expect(read({}, undefined)).toEqual({ value: {}, faults: {} });
  });

  it('reads no inherited property as a field', () => {
    const inherited = alias(text(), 'constructor');
    expect(read({ x: inherited, y: alias(id(), 'toString'), z: alias(choice(TYPES), '__proto__') }, {}).value).toEqual(
      {},
    );
    expect(each(choice(TYPES), ['constructor'])).toEqual([undefined]);
  });

  it('never throws, whatever it holds', () => {
    const fields = {
      text: text(),
      id: id(),
      ids: ids(),
      flag: flag(),
      country: country(),
      requiredText: requiredText(),
    };
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        for (const field of [...Object.values(fields), requiredList(z.any()), object({ x: text() }), choice(TYPES)])
          expect(read({ x: field }, { x: value }).faults).toBeDefined();
        expect(read(fields, value).faults).toBeDefined();
      }),
    );
  });
});

describe('an undefined field', () => {
  it('is removed, and null stays', () => {
    expect(dropUndefined({ a: undefined, b: null, c: 1 })).toStrictEqual({ b: null, c: 1 });
  });
});
