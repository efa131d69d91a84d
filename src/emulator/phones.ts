/** Actions of a person besides sending messages. */
export interface PhoneChange {
  /** `wa_id`. */
  readonly person: string;
  readonly isOffline?: boolean | undefined;
  /** Blocks or unblocks a number of the business. */
  readonly blocks?: { readonly phoneNumberId: string; readonly isBlocked: boolean } | undefined;
  /** The person's previous number, if this change is a new number. */
  readonly formerly?: string | undefined;
  readonly joins?: Group | undefined;
}

export interface Group {
  readonly groupId: string;
  readonly subject: string;
}

/** The state of people's phones. By default a phone is online, blocks no number and is in no group. */
export interface Phones {
  apply(change: PhoneChange): void;
  isOffline(person: string): boolean;
  isBlocking(person: string, phoneNumberId: string): boolean;
  /** All numbers of a person, the current one first. */
  numbersOf(person: string): readonly string[];
  groupsOf(person: string): readonly Group[];
  /** A group by its id; undefined if it has no members. */
  group(groupId: string): Group | undefined;
  /** Changes that reproduce the current state. */
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
        // It is the same phone: it stays in its groups, and keeps its blocked numbers.
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
