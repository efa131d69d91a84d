/** Actions of a person besides sending messages. */
export interface PhoneChange {
  /** `wa_id`. */
  readonly person: string;
  readonly isOffline?: boolean | undefined;
  /** Blocks a number of the business, or no longer. */
  readonly blocks?: { readonly phoneNumberId: string; readonly isBlocked: boolean } | undefined;
  /** The number that the person had before. */
  readonly formerly?: string | undefined;
  readonly joins?: Group | undefined;
}

export interface Group {
  readonly groupId: string;
  readonly subject: string;
}

/** The phones of people: those that did nothing particular are online, and block nobody. */
export interface Phones {
  apply(change: PhoneChange): void;
  isOffline(person: string): boolean;
  isBlocking(person: string, phoneNumberId: string): boolean;
  /** All numbers of a person, the present one first. */
  numbersOf(person: string): readonly string[];
  groupsOf(person: string): readonly Group[];
  /** A group by its id; undefined if nobody joined it. */
  group(groupId: string): Group | undefined;
  /** Changes that lead to the present state. */
  changes(): readonly PhoneChange[];
}

export function createPhones(): Phones {
  const offline = new Set<string>();
  const blocked = new Set<string>();
  const former = new Map<string, readonly string[]>();
  const groups = new Map<string, Group>();
  const members = new Map<string, Set<string>>();
  const groupsOf = (person: string): Group[] =>
    [...groups.values()].filter(({ groupId }) => members.get(groupId)?.has(person));

  return {
    apply({ person, isOffline, blocks, formerly, joins }) {
      if (isOffline === true) offline.add(person);
      if (isOffline === false) offline.delete(person);
      if (blocks?.isBlocked === true) blocked.add(`${person} ${blocks.phoneNumberId}`);
      if (blocks?.isBlocked === false) blocked.delete(`${person} ${blocks.phoneNumberId}`);
      if (formerly !== undefined) {
        former.set(person, [formerly, ...(former.get(formerly) ?? [])]);
        // The phone is the same one: it stays in its groups, and blocks whom it blocked.
        for (const each of members.values()) if (each.delete(formerly)) each.add(person);
        for (const key of [...blocked]) if (key.startsWith(`${formerly} `)) blocked.add(key.replace(formerly, person));
      }
      if (joins) {
        groups.set(joins.groupId, joins);
        const joined = members.get(joins.groupId) ?? new Set();
        members.set(joins.groupId, joined.add(person));
      }
    },
    isOffline: person => offline.has(person),
    isBlocking: (person, phoneNumberId) => blocked.has(`${person} ${phoneNumberId}`),
    numbersOf: person => [person, ...(former.get(person) ?? [])],
    groupsOf,
    group: groupId => groups.get(groupId),
    changes: () => [
      ...[...former].map(([person, numbers]) => ({ person, formerly: numbers[0] })),
      ...[...offline].map(person => ({ person, isOffline: true })),
      ...[...blocked].map(key => {
        const [person = '', phoneNumberId = ''] = key.split(' ');
        return { person, blocks: { phoneNumberId, isBlocked: true } };
      }),
      ...[...members].flatMap(([groupId, people]) =>
        [...people].map(person => ({ person, joins: groups.get(groupId) })),
      ),
    ],
  };
}
