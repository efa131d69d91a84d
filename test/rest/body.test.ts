import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Body, said } from '../../src/rest/body.ts';

const TYPES = { lead: 'LEAD', guest: 'GUEST' } as const;

describe('a body is read generously', () => {
  it('takes text as text or as a number', () => {
    const body = new Body({ a: 'x', b: 12, c: null });
    expect([body.text('a'), body.text('b'), body.text('c'), body.text('d')]).toEqual(['x', '12', null, undefined]);
  });

  it('takes the first of several names that is there', () => {
    expect(new Body({ first_name: 'Ada' }).text('firstname', 'first_name')).toBe('Ada');
    expect(new Body({ first_name: 'Ada', firstname: 'Eve' }).text('firstname', 'first_name')).toBe('Eve');
  });

  it('takes ids bare, quoted, and as nothing', () => {
    const body = new Body({ a: 7, b: '7', c: ' 7 ', d: '', e: null });
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(name => body.id(name))).toEqual(['7', '7', '7', null, null, undefined]);
  });

  it('takes lists of ids as arrays, with commas, alone, and as the objects that our answers show', () => {
    const body = new Body({ a: [1, '2'], b: '1, 2', c: 1, d: [], e: '', f: [{ id: 1, name: 'VIP' }] });
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(name => body.ids(name))).toEqual([
      ['1', '2'],
      ['1', '2'],
      ['1'],
      [],
      [],
      ['1'],
    ]);
  });

  it('takes flags as words and digits', () => {
    const body = new Body({ a: true, b: 'true', c: '1', d: 1, e: 'FALSE', f: 0, g: '' });
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(name => body.flag(name))).toEqual([
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

  it('takes words whatever their case', () => {
    expect(new Body({ type: ' Lead ' }).choice(TYPES, 'type')).toBe('LEAD');
  });

  it('takes countries by any code of ISO 3166-1', () => {
    const body = new Body({ a: 276, b: '276', c: 'de', d: 'DEU', e: '' });
    expect(['a', 'b', 'c', 'd', 'e'].map(name => body.country(name))).toEqual([276, 276, 276, 276, null]);
  });
});

describe('a body that cannot be read', () => {
  it('is reported by field, all at once', () => {
    const body = new Body({
      a: {},
      b: 'x',
      c: [1, 'x'],
      d: 'perhaps',
      e: 'boss',
      f: 'Atlantis',
      g: 'no list',
      h: [],
      i: 'a\0b',
    });
    body.text('a');
    body.id('b');
    body.ids('c');
    body.flag('d');
    body.choice(TYPES, 'e');
    body.country('f');
    body.list('g');
    body.object('h')?.text('x');
    body.text('i');
    body.requiredText('j');
    expect(Object.keys(body.errors.fields)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']);
    expect(() => body.throwIfAny()).toThrowError(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('is named by its first name, and below its object', () => {
    const body = new Body({ first_name: [], contact: { first_name: [] } });
    body.text('firstname', 'first_name');
    body.object('contact')?.text('firstname', 'first_name');
    expect(Object.keys(body.errors.fields)).toEqual(['firstname', 'contact.firstname']);
  });

  it('is no object', () => {
    for (const value of [[], 'text', 5, null, true])
      expect(new Body(value).errors.fields).toEqual({ body: ['Must be a JSON object.'] });
    expect(new Body(undefined).errors.isEmpty).toBe(true);
  });

  it('knows no field that every object inherits', () => {
    const body = new Body({});
    expect([body.text('constructor'), body.id('toString'), body.choice(TYPES, '__proto__')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(new Body({ type: 'constructor' }).choice(TYPES, 'type')).toBeUndefined();
  });

  it('never throws, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const body = new Body({ x: value });
        for (const name of ['text', 'id', 'ids', 'flag', 'country', 'requiredText', 'list', 'object'] as const)
          body[name]('x');
        body.choice(TYPES, 'x');
        expect(body.errors).toBeDefined();
      }),
    );
  });
});

describe('what was not said', () => {
  it('is left out, and what was taken away stays', () => {
    expect(said({ a: undefined, b: null, c: 1 })).toStrictEqual({ b: null, c: 1 });
  });
});
