import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../../src/features/contacts/recognition/evidence.ts';
import { People } from '../../../../src/features/contacts/recognition/people.ts';
import { finalOf, type Person } from '../../../../src/features/contacts/recognition/person.ts';

type Ids = { waId?: string; userId?: string; parentUserId?: string };
const ids = ({ waId, userId, parentUserId }: Ids) => ({ waId, userId, parentUserId });
const wrote = (atMs: number, person: Ids, portfolio = 'p1'): Evidence => ({ atMs, portfolio, after: ids(person) });
const changed = (atMs: number, before: Ids, after: Ids, portfolio = 'p1'): Evidence => ({
  atMs,
  portfolio,
  before: ids(before),
  after: ids(after),
});

const contact = (id: number, phone: string | null, phoneKey = phone?.replace('+', '') ?? null): Person => ({
  id,
  phone,
  phoneKey,
  secondKeys: [],
  weight: 1,
  identities: [],
  mergedInto: null,
  profileName: undefined,
  apart: new Set(),
});

/** The contacts as the database would give them back. */
function stored(people: People): Person[] {
  const persons = [...people.persons].filter(person => person.mergedInto === null);
  let row = 1;
  return persons.map((person, index) => ({
    ...person,
    id: index + 1,
    identities: person.identities.map(identity => {
      row += 1;
      return { ...identity, id: row, isDirty: false };
    }),
  }));
}

/** Takes evidence in, a batch at a time, with the contacts stored in between. */
function taken(batches: readonly (readonly Evidence[])[], contacts: Person[] = []): People {
  let people = new People(contacts);
  for (const batch of batches) {
    people = new People(stored(people));
    for (const evidence of batch) people.resolve(evidence);
  }
  return people;
}

/** User ids by person: what the order of webhooks must not change. */
const partition = (people: People): string[] =>
  [...people.persons]
    .filter(person => person.mergedInto === null)
    .map(person =>
      person.identities
        .filter(({ kind }) => kind === 'user_id')
        .map(({ portfolio, value }) => `${portfolio} ${value}`)
        .sort()
        .join(),
    )
    .sort();

/** Who has which number now, by the person's user ids. */
const holders = (people: People): string[] =>
  [...people.persons]
    .flatMap(person =>
      person.identities
        .filter(({ kind, endedAtMs }) => kind === 'wa_id' && endedAtMs === null)
        .map(
          ({ value }) =>
            `${value}: ${person.identities
              .filter(one => one.kind === 'user_id')
              .map(one => one.value)
              .sort()}`,
        ),
    )
    .sort();

function isSettled(people: People, evidence: readonly Evidence[]): boolean {
  const again = new People(stored(people));
  for (const one of evidence) again.resolve(one);
  return (
    again.merges.length === 0 &&
    [...again.persons].every(person => person.id > 0 && person.identities.every(row => !row.isDirty))
  );
}

interface Step {
  readonly kind: 'write' | 'move';
  readonly person: number;
  readonly portfolio: number;
  readonly shows: boolean;
  readonly number: number;
  readonly notices: readonly number[];
}

const steps = (persons: number, numbers: number) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom<Step['kind']>('write', 'write', 'move'),
      person: fc.nat(persons - 1),
      portfolio: fc.nat(1),
      shows: fc.boolean(),
      number: fc.nat(numbers - 1),
      notices: fc.subarray([0, 1, 2], { minLength: 1 }),
    }),
    { maxLength: 14 },
  );

interface Truth {
  readonly evidence: Evidence[];
  /** Person by user id, for those that evidence names. */
  readonly owner: Map<string, number>;
}

/** What happens, and what the network reports. */
function play(script: readonly Step[], portfolios: number, recycles: boolean): Truth {
  const evidence: Evidence[] = [];
  const owner = new Map<string, number>();
  const numbers = new Map<number, string>();
  const generation = new Map<number, number>();
  const free = new Set(['491', '492', '493', '494']);
  let fresh = 500;
  let atMs = 1_000;
  const had = new Set<string>();
  // Nobody comes back to a number: what the network says of the first stay may then end the second one, until the next message.
  const take = (person: number, nth: number): string => {
    const all = [...free].filter(number => !had.has(`${person} ${number}`));
    let number = recycles ? all[nth % all.length] : undefined;
    if (number === undefined) {
      fresh += 1;
      number = String(fresh);
    }
    free.delete(number);
    had.add(`${person} ${number}`);
    return number;
  };
  const userId = (person: number, portfolio: string): string => {
    const id = `DE.${person}g${generation.get(person) ?? 0}${portfolio}`;
    owner.set(`${portfolio} ${id}`, person);
    return id;
  };
  for (const step of script) {
    atMs += 1_000;
    const { person } = step;
    const old = numbers.get(person) ?? take(person, step.number);
    numbers.set(person, old);
    const named = Array.from({ length: portfolios }, (_, index) => `p${index + 1}`);
    if (step.kind === 'write') {
      const portfolio = named[step.portfolio % portfolios] ?? 'p1';
      evidence.push(wrote(atMs, { userId: userId(person, portfolio), ...(step.shows && { waId: old }) }, portfolio));
      continue;
    }
    const next = take(person, step.number);
    if (recycles) free.add(old);
    const before = named.map(portfolio => userId(person, portfolio));
    generation.set(person, (generation.get(person) ?? 0) + 1);
    numbers.set(person, next);
    for (const [index, portfolio] of named.entries()) {
      const [previous, current] = [before[index] ?? '', userId(person, portfolio)];
      for (const notice of step.notices) {
        if (notice === 0)
          evidence.push(changed(atMs, { waId: old, userId: previous }, { waId: next, userId: current }, portfolio));
        if (notice === 1) evidence.push(changed(atMs, { userId: previous }, { userId: current }, portfolio));
        if (notice === 2)
          evidence.push(changed(atMs, { userId: previous }, { waId: next, userId: current }, portfolio));
      }
    }
  }
  return { evidence, owner };
}

const truthOf = ({ owner, evidence }: Truth): string[] => {
  const seen = new Set(
    evidence.flatMap(({ portfolio, before, after }) =>
      [before, after].flatMap(person => (person?.userId === undefined ? [] : [`${portfolio} ${person.userId}`])),
    ),
  );
  const people = new Map<number, string[]>();
  for (const id of seen) people.set(owner.get(id) ?? -1, [...(people.get(owner.get(id) ?? -1) ?? []), id]);
  return [...people.values()].map(list => list.sort().join()).sort();
};

/** Any order, some things twice, in batches of any size. */
const deliveries = (evidence: readonly Evidence[]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...evidence], { minLength: evidence.length }),
      fc.subarray([...evidence]),
      fc.nat(evidence.length + 1),
    )
    .map(([order, repeated, at]) => {
      const all = [...order, ...repeated];
      return [all.slice(0, at), all.slice(at)];
    });

describe('any order and repetition of messages and change notices', () => {
  const scripts = (recycles: boolean) => (recycles ? steps(3, 4) : steps(2, 1));

  test('results in the real people, when numbers change hands', () => {
    fc.assert(
      fc.property(
        scripts(true)
          .map(script => play(script, 1, true))
          .chain(truth => fc.tuple(fc.constant(truth), deliveries(truth.evidence))),
        ([truth, batches]) => {
          const people = taken(batches);
          expect(partition(people)).toEqual(truthOf(truth));
          expect(holders(people)).toEqual(holders(taken([truth.evidence])));
          expect(isSettled(people, truth.evidence)).toBe(true);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('results in the same people over two portfolios', () => {
    fc.assert(
      fc.property(
        scripts(false)
          .map(script => play(script, 2, false))
          .chain(truth => fc.tuple(fc.constant(truth), deliveries(truth.evidence))),
        ([truth, batches]) => {
          const inOrder = taken([truth.evidence]);
          const people = taken(batches);
          expect(partition(people)).toEqual(partition(inOrder));
          expect(isSettled(people, truth.evidence)).toBe(true);
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('evidence', () => {
  test('a number and a user id in one webhook merge the contacts of both', () => {
    const people = taken(
      [[wrote(1, { userId: 'DE.1' })], [wrote(2, { waId: '491', userId: 'DE.1' })]],
      [contact(1, '+491')],
    );
    expect(partition(people)).toEqual(['p1 DE.1']);
  });

  test('another user id with a known number is another person: the number moves, and the history stays', () => {
    const people = taken([[wrote(1, { waId: '491', userId: 'DE.1' })], [wrote(2, { waId: '491', userId: 'DE.2' })]]);
    expect(partition(people)).toEqual(['p1 DE.1', 'p1 DE.2']);
    expect(holders(people)).toEqual(['491: DE.2']);
    const [first, second] = [...people.persons];
    expect([first?.phone, second?.phone]).toEqual([null, '+491']);
  });

  test('a late change notice merges two contacts of one person', () => {
    const two = [wrote(1, { waId: '491', userId: 'DE.1' }), wrote(2, { waId: '491', userId: 'DE.2' })];
    const people = taken([two, [changed(2, { userId: 'DE.1' }, { userId: 'DE.2' })]]);
    expect(partition(people)).toEqual(['p1 DE.1,p1 DE.2']);
    expect([...people.persons].map(finalOf).map(({ phone }) => phone)).toEqual(['+491', '+491']);
  });

  test('a user id of another portfolio does not prove a different person', () => {
    const people = taken([
      [wrote(1, { waId: '491', userId: 'DE.1' }), wrote(2, { waId: '491', userId: 'DE.2' }, 'p2')],
    ]);
    expect(partition(people)).toEqual(['p1 DE.1,p2 DE.2']);
    const foreign = taken([[wrote(1, { userId: 'DE.1' }), wrote(2, { userId: 'DE.1' }, 'p2')]]);
    expect(partition(foreign)).toEqual(['p1 DE.1', 'p2 DE.1']);
  });

  test('a parent id joins portfolios', () => {
    const people = taken([
      [
        wrote(1, { userId: 'DE.1', parentUserId: 'DE.ENT.9' }),
        wrote(2, { userId: 'DE.2', parentUserId: 'DE.ENT.9' }, 'p2'),
      ],
    ]);
    expect(partition(people)).toEqual(['enterprise DE.ENT.9,p1 DE.1,p2 DE.2']);
  });

  test('a national variant of a number finds a contact but merges none', () => {
    const variant = contact(1, '+5511987654321', '551187654321');
    const found = taken([[wrote(1, { waId: '551187654321', userId: 'BR.1' })]], [variant]);
    expect(found.persons.size).toBe(1);
    const two = taken(
      [[wrote(1, { userId: 'BR.1' })], [wrote(2, { waId: '551187654321', userId: 'BR.1' })]],
      [contact(1, '+5511987654321', '551187654321')],
    );
    expect([...two.persons].filter(person => person.mergedInto === null)).toHaveLength(2);
  });

  test('a notice without user ids moves the contact to the new number, before and after a message from it', () => {
    const notice = changed(5, { waId: '491' }, { waId: '492' });
    for (const order of [
      [wrote(1, { waId: '491', userId: 'DE.1' }), notice, wrote(9, { waId: '492', userId: 'DE.2' })],
      [wrote(9, { waId: '492', userId: 'DE.2' }), notice, wrote(1, { waId: '491', userId: 'DE.1' })],
      [wrote(1, { waId: '491', userId: 'DE.1' }), wrote(9, { waId: '492', userId: 'DE.2' }), notice],
      [notice, wrote(9, { waId: '492', userId: 'DE.2' }), wrote(1, { waId: '491', userId: 'DE.1' })],
    ]) {
      const people = taken(order.map(one => [one]));
      expect(partition(people)).toEqual(['p1 DE.1,p1 DE.2']);
      expect([...people.persons].find(person => person.mergedInto === null)?.phone).toBe('+492');
    }
  });

  test('the holder of the new number before the notice is another person, and loses it', () => {
    const people = taken([
      [wrote(1, { waId: '492', userId: 'DE.9' }), wrote(2, { waId: '491', userId: 'DE.1' })],
      [changed(5, { waId: '491' }, { waId: '492' })],
    ]);
    expect(partition(people)).toEqual(['p1 DE.1', 'p1 DE.9']);
    expect(holders(people)).toEqual(['492: DE.1']);
  });

  test('usernames are stored but are not evidence', () => {
    const ana = { ...wrote(1, { userId: 'DE.1' }), username: 'ana' };
    const people = taken([
      [ana, { ...wrote(2, { userId: 'DE.2' }), username: 'ana' }, { ...ana, atMs: 3, username: 'ana.s' }],
    ]);
    expect(partition(people)).toEqual(['p1 DE.1', 'p1 DE.2']);
    const [first] = [...people.persons];
    expect(
      first?.identities.filter(({ kind }) => kind === 'username').map(({ value, endedAtMs }) => [value, endedAtMs]),
    ).toEqual([
      ['ana', 3],
      ['ana.s', null],
    ]);
  });
});
