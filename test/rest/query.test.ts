import fc from 'fast-check';
import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { CodedError, FieldErrorList } from '../../src/core/errors.ts';
import type { Query } from '../../src/rest/runtime/filter.ts';
import { type ListFields, readList, readShown } from '../../src/rest/runtime/query.ts';
import { switchesOf, switchOf, withSwitches } from '../../src/rest/runtime/sparse.ts';

interface Filter {
  readonly name?: { readonly eq?: string };
  readonly type?: { readonly eq?: 'LEAD' | 'CUSTOMER' | 'STARTS_WITH' };
  readonly statusId?: { readonly eq?: string };
  readonly createdAt?: { readonly eq?: string };
  readonly isEnabled?: { readonly eq?: boolean };
}

const FIELDS: ListFields<Filter, 'ID' | 'CREATED_AT'> = {
  filters: {
    name: ['name', 'text'],
    type: ['type', { lead: 'LEAD', customer: 'CUSTOMER', starts_with: 'STARTS_WITH' }],
    status_id: ['statusId', 'id'],
    created_at: ['createdAt', 'time'],
    is_enabled: ['isEnabled', 'flag'],
  },
  sorts: { id: 'ID', created_at: 'CREATED_AT' },
};

const read = (query: Query) => {
  const errors = new FieldErrorList();
  const list = readList(query, FIELDS, errors);
  errors.throwIfAny();
  return list;
};

const faults = (query: Query): readonly string[] => {
  const errors = new FieldErrorList();
  readList(query, FIELDS, errors);
  return Object.keys(errors.fields);
};

describe('the parameters of a list', () => {
  it('are page 1 of 15 rows in the default order by default', () => {
    expect(read({})).toEqual({ first: 15, offset: 0, search: null, filter: null, orderBy: null });
  });

  it('become the arguments of a connection', () => {
    const query = {
      page: '3',
      per_page: '20',
      sort: '-created_at, id',
      q: ' ada ',
      'filter[type]': 'Lead',
      'filter[status_id][in]': '1,2',
      'filter[created_at][gte]': '2026-01-01',
      'filter[created_at][lt]': '2026-02-01T00:00:00+01:00',
    };
    expect(read(query)).toEqual({
      first: 20,
      offset: 40,
      search: 'ada',
      filter: {
        type: { eq: 'LEAD' },
        statusId: { in: ['1', '2'] },
        createdAt: { gte: '2026-01-01T00:00:00.000Z', lt: '2026-01-31T23:00:00.000Z' },
      },
      orderBy: [
        { field: 'CREATED_AT', direction: 'DESC' },
        { field: 'ID', direction: 'ASC' },
      ],
    });
  });

  it.each([
    ['eq', '7', { eq: '7' }],
    ['ne', '7', { ne: '7' }],
    ['gt', '7', { gt: '7' }],
    ['gte', '7', { gte: '7' }],
    ['lt', '7', { lt: '7' }],
    ['lte', '7', { lte: '7' }],
    ['in', '7,8', { in: ['7', '8'] }],
    ['not_in', '7,8', { notIn: ['7', '8'] }],
    ['between', '7,8', { between: ['7', '8'] }],
    ['null', 'true', { isNull: true }],
    ['null', '0', { isNull: false }],
  ])('know the operator %s', (operator, value, comparison) => {
    expect(read({ [`filter[status_id][${operator}]`]: value }).filter).toEqual({ statusId: comparison });
  });

  it('support like for text', () => {
    expect(read({ 'filter[name][like]': 'cust%' }).filter).toEqual({ name: { like: 'cust%' } });
  });

  it.each([
    ['eq', 'Lead', { eq: 'LEAD' }],
    ['ne', 'lead', { ne: 'LEAD' }],
    ['in', 'lead, CUSTOMER', { in: ['LEAD', 'CUSTOMER'] }],
    ['not_in', 'lead', { notIn: ['LEAD'] }],
    ['null', 'false', { isNull: false }],
    ['like', 'T', { in: ['CUSTOMER', 'STARTS_WITH'] }],
    ['like', 'cust%', { in: ['CUSTOMER'] }],
    ['like', '_ea_', { in: ['LEAD'] }],
    ['like', 'ea_', { in: [] }],
    ['like', '%a%%%d', { in: ['LEAD'] }],
    ['like', '.*', { in: [] }],
    ['gt', 'customer', { in: ['LEAD', 'STARTS_WITH'] }],
    ['gte', 'lead', { in: ['LEAD', 'STARTS_WITH'] }],
    ['lt', 'lead', { in: ['CUSTOMER'] }],
    ['lte', 'lead', { in: ['LEAD', 'CUSTOMER'] }],
    ['between', 'a,m', { in: ['LEAD', 'CUSTOMER'] }],
  ])('know the words of a closed list by %s %s', (operator, value, comparison) => {
    expect(read({ [`filter[type][${operator}]`]: value }).filter).toEqual({ type: comparison });
  });

  it('apply every condition to a word', () => {
    expect(read({ 'filter[type][like]': 't', 'filter[type][in]': 'lead,customer' }).filter).toEqual({
      type: { in: ['CUSTOMER'] },
    });
  });

  it('match any pattern over words in linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('%', '_', 'a', 's', '(', '\\'), maxLength: 2_000 }), pattern => {
        expect(read({ 'filter[type][like]': pattern }).filter).toMatchObject({ type: { in: expect.any(Array) } });
      }),
    );
  });

  it('read a filter with several values as a list', () => {
    expect(read({ 'filter[status_id]': ['1', '2'] }).filter).toEqual({ statusId: { in: ['1', '2'] } });
    expect(read({ 'filter[status_id][]': ['1', '2'] }).filter).toEqual({ statusId: { in: ['1', '2'] } });
    expect(read({ 'filter[status_id][]': '1' }).filter).toEqual({ statusId: { in: ['1'] } });
  });

  it.each([
    ['true', true],
    ['1', true],
    [' TRUE', true],
    ['false', false],
    ['0', false],
  ])('read %j as the truth value %s, as bodies do', (written, value) => {
    expect(read({ 'filter[is_enabled]': written }).filter).toEqual({ isEnabled: { eq: value } });
    expect(read({ 'filter[is_enabled][in]': `${written},0` }).filter).toEqual({ isEnabled: { in: [value, false] } });
  });

  it.each<[string, string, object]>([
    ['', '2026-01-31', { between: ['2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z'] }],
    ['[gt]', '2026-01-31', { gt: '2026-01-31T23:59:59.999Z' }],
    ['[gte]', '2026-01-31', { gte: '2026-01-31T00:00:00.000Z' }],
    ['[lt]', '2026-01-31', { lt: '2026-01-31T00:00:00.000Z' }],
    ['[lte]', '2026-01-31', { lte: '2026-01-31T23:59:59.999Z' }],
    ['[between]', '2026-01-01,2026-01-31', { between: ['2026-01-01T00:00:00.000Z', '2026-01-31T23:59:59.999Z'] }],
    [
      '[between]',
      '2026-01-01T12:00Z,2026-01-31',
      { between: ['2026-01-01T12:00:00.000Z', '2026-01-31T23:59:59.999Z'] },
    ],
  ])('a date in filter[created_at]%s=%s is the whole day', (operator, value, expected) => {
    expect(read({ [`filter[created_at]${operator}`]: value }).filter).toEqual({ createdAt: expected });
  });

  const LAST_OF_JANUARY = ['2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z'] as const;
  const NOON = '2026-02-01T12:00:00.000Z';
  const besides = ([first, last]: readonly string[]) => ({
    or: [{ createdAt: { lt: first } }, { createdAt: { gt: last } }],
  });

  it.each<[string, string | string[], object[]]>([
    ['[ne]', '2026-01-31', [besides(LAST_OF_JANUARY)]],
    ['[not_in]', '2026-01-31', [besides(LAST_OF_JANUARY)]],
    ['[not_in]', `2026-01-31,${NOON}`, [besides(LAST_OF_JANUARY), { or: [{ createdAt: { ne: NOON } }] }]],
    ['[in]', '2026-01-31', [{ or: [{ createdAt: { between: LAST_OF_JANUARY } }] }]],
    [
      '[in]',
      `2026-01-31, ${NOON}`,
      [{ or: [{ createdAt: { between: LAST_OF_JANUARY } }, { createdAt: { eq: NOON } }] }],
    ],
    ['', ['2026-01-31', NOON], [{ or: [{ createdAt: { between: LAST_OF_JANUARY } }, { createdAt: { eq: NOON } }] }]],
  ])(
    'a date in filter[created_at]%s=%s is the whole day, also as one of several or as none',
    (operator, value, and) => {
      expect(read({ [`filter[created_at]${operator}`]: value }).filter).toEqual({ and });
    },
  );

  it('refuse several dates where one is compared', () => {
    expect(faults({ 'filter[created_at][ne]': ['2026-01-31', '2026-02-01'] })).toEqual(['filter.created_at']);
    expect(faults({ 'filter[created_at][gt]': '2026-01-31,2026-02-01' })).toEqual(['filter.created_at']);
    expect(faults({ 'filter[created_at][in]': '2026-01-31,soon' })).toEqual(['filter.created_at']);
    expect(faults({ 'filter[created_at][between]': '2026-01-31' })).toEqual(['filter.created_at']);
  });

  it('accept our own timestamps, whose plus sign was decoded as a space', () => {
    expect(read({ 'filter[created_at]': '2026-01-01T07:58:39 00:00' }).filter).toEqual({
      createdAt: { eq: '2026-01-01T07:58:39.000Z' },
    });
  });

  it.each([
    [{ page: '0' }, 'page'],
    [{ page: 'two' }, 'page'],
    [{ page: '1.5' }, 'page'],
    [{ page: ['1', '2'] }, 'page'],
    [{ page: '99999999999' }, 'page'],
    [{ per_page: '0' }, 'per_page'],
    [{ per_page: '101' }, 'per_page'],
    [{ per_page: '-1' }, 'per_page'],
    [{ sort: 'name' }, 'sort'],
    [{ sort: 'constructor' }, 'sort'],
    [{ filter: 'x' }, 'filter'],
    [{ 'filter[foo]': '1' }, 'filter.foo'],
    [{ 'filter[__proto__]': '1' }, 'filter.__proto__'],
    [{ 'filter[type][toString]': '1' }, 'filter.type'],
    [{ 'filter[type][]x': '1' }, 'filter'],
    [{ 'filter[status_id]': 'abc' }, 'filter.status_id'],
    [{ 'filter[status_id][like]': '1' }, 'filter.status_id'],
    [{ 'filter[status_id][in]': '1,x' }, 'filter.status_id'],
    [{ 'filter[is_enabled]': 'maybe' }, 'filter.is_enabled'],
    [{ 'filter[is_enabled]': 'constructor' }, 'filter.is_enabled'],
    [{ 'filter[is_enabled][like]': 'true' }, 'filter.is_enabled'],
    [{ 'filter[is_enabled][gte]': 'true' }, 'filter.is_enabled'],
    [{ 'filter[status_id][between]': '1' }, 'filter.status_id'],
    [{ 'filter[status_id][null]': 'maybe' }, 'filter.status_id'],
    [{ 'filter[status_id]': '99999999999999999999' }, 'filter.status_id'],
    [{ 'filter[created_at]': 'yesterday' }, 'filter.created_at'],
    [{ 'filter[created_at]': '0000-01-01' }, 'filter.created_at'],
    [{ 'filter[type]': 'a\0' }, 'filter.type'],
    [{ 'filter[type]': 'guest' }, 'filter.type'],
    [{ 'filter[type]': 'constructor' }, 'filter.type'],
    [{ 'filter[is_enabled][gt]': '1' }, 'filter.is_enabled'],
    [{ 'filter[name]': 'a\0' }, 'filter.name'],
    [{ search: '\0' }, 'search'],
  ])('are refused by name: %j', (query, parameter) => {
    expect(faults(query)).toEqual([parameter]);
  });

  it('are either read or reported under their names', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'page',
        'per_page',
        'sort',
        'search',
        'q',
        'filter',
        'filter[type]',
        'filter[status_id][in]',
        'filter[created_at][between]',
      ),
      fc.string(),
      fc.tuple(fc.string(), fc.string()).map(([field, operator]) => `filter[${field}][${operator}]`),
    );
    const value = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.constantFrom('2026-01-01', '-id', '1,2'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), parameters => {
        try {
          const list = read(Object.fromEntries(parameters));
          expect(list.first).toBeGreaterThanOrEqual(1);
          expect(list.first).toBeLessThanOrEqual(100);
          expect(list.offset).toBeGreaterThanOrEqual(0);
          expect(list.offset).toBeLessThanOrEqual(1_000_000);
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
          expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('must all hold, also two for one field with the same operator', () => {
    const [start, end] = ['2026-01-31T00:00:00.000Z', '2026-01-31T23:59:59.999Z'];
    expect(read({ 'filter[type]': 'lead', 'filter[type][eq]': 'customer' }).filter).toEqual({
      type: { eq: 'LEAD' },
      and: [{ type: { eq: 'CUSTOMER' } }],
    });
    expect(
      read({ 'filter[created_at]': '2026-01-31', 'filter[created_at][between]': '2026-01-01,2026-02-28' }).filter,
    ).toEqual({
      createdAt: { between: [start, end] },
      and: [{ createdAt: { between: ['2026-01-01T00:00:00.000Z', '2026-02-28T23:59:59.999Z'] } }],
    });
    expect(read({ 'filter[type]': 'lead', 'filter[type][eq]': 'Lead' }).filter).toEqual({ type: { eq: 'LEAD' } });
    expect(read({ 'filter[type][]': ['lead', 'customer'], 'filter[type][in]': 'lead' }).filter).toEqual({
      type: { in: ['LEAD'] },
    });
  });

  it('give the offset of every page and size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100 }), (page, size) => {
        expect(read({ page: String(page), per_page: String(size) })).toMatchObject({
          first: size,
          offset: (page - 1) * size,
        });
      }),
    );
  });
});

describe('fields and include', () => {
  const ROW = switchesOf(
    parse(`query ($first: Int $with_id: Boolean = true $with_phone: Boolean = true $with_status_id: Boolean = true
      $with_groups: Boolean = false $with_source: Boolean = false) { any }`),
  );
  const read = (query: Query, always: string[] = []) => {
    const errors = new FieldErrorList();
    const result = readShown(query, ROW, errors, always);
    errors.throwIfAny();
    return result;
  };
  /** What the document reads with these switches: its own settings hold where none is set. */
  const shown = (query: Query, always: string[] = []) => {
    const switches = read(query, always);
    return [...ROW.fields, ...ROW.includes].filter(field => switches[switchOf(field)] ?? ROW.fields.includes(field));
  };

  it('are the switches of the document, in its order', () => {
    expect(ROW).toEqual({ fields: ['id', 'phone', 'status_id'], includes: ['groups', 'source'] });
  });

  it('show all plain fields and no objects by default, without a switch', () => {
    expect(shown({})).toEqual(['id', 'phone', 'status_id']);
    expect(read({})).toEqual({});
  });

  it('show the requested fields, and the included objects', () => {
    expect(shown({ fields: 'id,phone' })).toEqual(['id', 'phone']);
    expect(shown({ fields: 'id,groups' })).toEqual(['id', 'groups']);
    expect(shown({ fields: ['id', 'phone'], include: 'source' })).toEqual(['id', 'phone', 'source']);
    expect(shown({ 'fields[]': ['id'], 'include[]': 'groups' })).toEqual(['id', 'groups']);
    expect(shown({ include: 'groups' })).toEqual(['id', 'phone', 'status_id', 'groups']);
    expect(shown({ fields: 'id' }, ['groups'])).toEqual(['id', 'groups']);
  });

  it('refuse fields that a row lacks', () => {
    expect(() => shown({ fields: 'id,password' })).toThrowError(
      expect.objectContaining({ details: { fields: [expect.stringContaining('password')] } }),
    );
    expect(() => shown({ include: 'phone' })).toThrowError(
      expect.objectContaining({ details: { include: [expect.stringContaining('phone')] } }),
    );
  });

  it('show each field exactly when it is requested, in any combination', () => {
    const names = [...ROW.fields, ...ROW.includes];
    const several = (of: readonly string[]) => fc.uniqueArray(fc.constantFrom(...of));
    fc.assert(
      fc.property(several(names), several(ROW.includes), (fields, include) => {
        const wanted = [...(fields.length > 0 ? fields : ROW.fields), ...include];
        expect(shown({ fields: fields.join(','), include: include.join(',') })).toEqual(
          names.filter(name => wanted.includes(name)),
        );
      }),
    );
  });
});

describe('a sparse fragment', () => {
  const [rows, operations] = withSwitches([
    parse(`fragment Row on Contact @sparse { id: databaseId email groups @included { id: databaseId } }`),
    parse(`query List($first: Int!) { contacts(first: $first) { nodes { ...Row } } } query Other { viewer { id } }`),
  ]).map(document => print(document).replace(/\s+/g, ' '));

  it('gets a switch for each of its fields, and for none below', () => {
    expect(rows).toBe(
      'fragment Row on Contact { id: databaseId @include(if: $with_id) email @include(if: $with_email) groups @include(if: $with_groups) { id: databaseId } }',
    );
  });

  it('gives its switches to the operations that use it: on, or off for included fields', () => {
    expect(operations).toContain(
      'query List($first: Int!, $with_id: Boolean = true, $with_email: Boolean = true, $with_groups: Boolean = false)',
    );
    expect(operations).toContain('query Other { viewer { id } }');
  });
});
