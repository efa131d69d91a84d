import { phoneKey } from '../../../platform/phone.ts';
import { type Evidence, keyOf, type UserId, userIdsOf } from './evidence.ts';
import {
  contradicts,
  finalOf,
  hasExactly,
  heldAt,
  type Identity,
  isPairedWith,
  newIdentity,
  numbersOf,
  type Person,
  phoneOfWaId,
  userRows,
} from './person.ts';

export interface Merge {
  readonly survivor: Person;
  readonly loser: Person;
}

/** Reasons of `contact.identity_changed`. */
export type ChangeReason = 'number_changed' | 'number_reassigned' | 'user_id_changed';

/**
 * Resolves evidence to persons, without I/O.
 *
 * - Within its portfolio, a user id belongs to one person for ever. A parent id is valid across portfolios.
 * - A number belongs to a person for a time. Seen with a user id, it proves that both are one person, unless its contact has another
 *   user id of the same portfolio seen with this number: then the number was reassigned. It moves to the person last seen with it;
 *   the earlier contact keeps its history.
 * - A change notice (`before` and `after`) proves that both sides are one person, even if they have two contacts by then.
 * - A national variant of a number finds a contact, but never merges two. Names and usernames prove nothing.
 *
 * With user ids, the outcome depends neither on the order of the evidence nor on repetitions, because times are the network's.
 */
export class People {
  readonly persons = new Set<Person>();
  readonly merges: Merge[] = [];
  readonly reasons = new Map<Person, Set<ChangeReason>>();
  readonly #byUser = new Map<string, Person>();
  readonly #byNumber = new Map<string, Set<Person>>();
  readonly #byPhone = new Map<string, Person>();
  readonly #bySecondPhone = new Map<string, Person>();
  #nextId = -1;

  constructor(persons: Iterable<Person>) {
    for (const person of persons) {
      this.persons.add(person);
      if (person.phoneKey !== null) this.#byPhone.set(person.phoneKey, person);
      for (const key of person.secondKeys) this.#bySecondPhone.set(key, person);
      for (const row of person.identities) this.#index(person, row);
    }
  }

  /** Finds or creates the person of the evidence. */
  resolve(evidence: Evidence): Person {
    const { atMs, before, after } = evidence;
    const [oldIds, newIds] = [userIdsOf(evidence.portfolio, before), userIdsOf(evidence.portfolio, after)];
    const other = this.#otherHolderAt(evidence, newIds);
    if (other) return other;
    // For contacts that an operator has separated, the update concerns the one with the new identity.
    if (before && this.#concernsSeparated(evidence, oldIds, newIds))
      return this.resolve({ ...evidence, before: undefined });
    let person: Person | undefined;
    for (const id of [...newIds, ...oldIds]) person = this.#join(person, this.#find(id));
    if (before?.waId !== undefined)
      person = this.#joinNumber(person, before.waId, oldIds, this.#holdersBefore(before.waId, atMs));
    if (after.waId !== undefined) {
      const candidates = before ? this.#holdersAfter(after.waId, atMs) : this.#holdersAt(after.waId, atMs, person);
      person = this.#joinNumber(person, after.waId, newIds, candidates);
    }
    const known = person ?? this.#create();
    if (after.waId !== undefined) this.#assignNumber(known, after.waId, atMs, newIds, before?.waId);
    else if (before?.waId !== undefined) this.#assignNumber(known, before.waId, atMs, oldIds, undefined);
    this.#assignUserIds(known, oldIds, before?.waId, atMs, newIds);
    this.#assignUserIds(known, newIds, after.waId, atMs, []);
    this.#recordUsername(known, evidence.username, atMs);
    known.profileName ??= evidence.profileName;
    return known;
  }

  /** Whether the two sides of a notice are contacts that must not be merged. */
  #concernsSeparated({ atMs, before, after }: Evidence, oldIds: readonly UserId[], newIds: readonly UserId[]): boolean {
    const found = (ids: readonly UserId[]) => ids.flatMap(id => this.#find(id) ?? []);
    const olds = [...found(oldIds), ...(before?.waId === undefined ? [] : this.#holdersBefore(before.waId, atMs))];
    // Includes the holder before the notice, who would lose the number to the other contact.
    const news = [...found(newIds), ...(after.waId === undefined ? [] : this.#allHoldersOf(after.waId))];
    return olds.some(one => news.some(two => areSeparated(one, two)));
  }

  /** All current holders of a number, as reported by the network or set by the tenant. */
  #allHoldersOf(waId: string): Person[] {
    const shown = this.#holdersOf(waId).filter(({ row }) => row.endedAtMs === null);
    return [...shown.map(({ person }) => person), this.#phoneHolder(waId)].filter(person => person !== undefined);
  }

  #find(id: UserId): Person | undefined {
    const person = this.#byUser.get(keyOf(id));
    return person && finalOf(person);
  }

  #holdersOf(waId: string): { readonly person: Person; readonly row: Identity }[] {
    const persons = new Set([...(this.#byNumber.get(waId) ?? [])].map(finalOf));
    return [...persons]
      .flatMap(person => numbersOf(person, waId).map(row => ({ person, row })))
      .sort((a, b) => a.row.startedAtMs - b.row.startedAtMs);
  }

  /** The holder of a thread's number at the time of a message, if known to be another person than the one that the thread names. */
  #otherHolderAt({ isUserIdOfThread, atMs, after }: Evidence, ids: readonly UserId[]): Person | undefined {
    if (!isUserIdOfThread || after.waId === undefined) return undefined;
    const { waId } = after;
    const holder = this.#reportedHolderAt(waId, atMs);
    return holder && contradicts(holder, waId, ids) ? holder : undefined;
  }

  /** The holder of a number at an instant, otherwise the next holder, as reported by the network. */
  #reportedHolderAt(waId: string, atMs: number): Person | undefined {
    const holders = this.#holdersOf(waId);
    const covering = holders.findLast(
      ({ row }) => row.startedAtMs <= atMs && (row.endedAtMs === null || atMs < row.endedAtMs),
    );
    return (covering ?? holders.find(({ row }) => row.startedAtMs > atMs))?.person;
  }

  /** The contact to which the tenant assigned the number, in any national spelling: as its number, otherwise by a merge. */
  #phoneHolder(waId: string): Person | undefined {
    const key = phoneKey(waId);
    const person = this.#byPhone.get(key) ?? this.#bySecondPhone.get(key);
    return person && finalOf(person);
  }

  /** The holder of a number at the time of a message, otherwise the next holder; and the contact to which the tenant assigned it. */
  #holdersAt(waId: string, atMs: number, person: Person | undefined): Person[] {
    const holders = this.#holdersOf(waId);
    // A late message of a person who has lost the number since.
    if (
      person &&
      holders.some(({ person: holder, row }) => holder === person && row.endedAtMs !== null && heldAt(row, atMs))
    )
      return [];
    const holder = this.#reportedHolderAt(waId, atMs);
    const named = this.#phoneHolder(waId);
    // For a contact that the network has reported with the number, the period is known.
    const isOfAnotherTime = holder !== undefined && holders.some(one => one.person === named);
    return [holder, isOfAnotherTime ? undefined : named].filter(candidate => candidate !== undefined);
  }

  /** The holder of a number until a change notice, without later holders. */
  #holdersBefore(waId: string, atMs: number): Person[] {
    const holders = this.#holdersOf(waId);
    const last = holders.findLast(({ row }) => row.startedAtMs <= atMs);
    if (last) return [last.person];
    const named = this.#phoneHolder(waId);
    return named && !holders.some(({ person }) => person === named) ? [named] : [];
  }

  /** The holder of a number since a change notice, without earlier holders. */
  #holdersAfter(waId: string, atMs: number): Person[] {
    const holders = this.#holdersOf(waId);
    const next = holders.find(({ row }) => row.startedAtMs >= atMs);
    const named = this.#phoneHolder(waId);
    const isUnseen = named && !holders.some(({ person }) => person === named);
    return [next?.person, isUnseen ? named : undefined].filter(candidate => candidate !== undefined);
  }

  #joinNumber(
    known: Person | undefined,
    waId: string,
    ids: readonly UserId[],
    candidates: readonly Person[],
  ): Person | undefined {
    let person = known;
    for (const candidate of candidates.map(finalOf)) {
      if (candidate === person || contradicts(candidate, waId, ids)) continue;
      const hasNumber = numbersOf(candidate, waId).length > 0 || hasExactly(candidate, waId);
      if (!person) person = candidate;
      else if (hasNumber) person = this.#joinUnlessContradicted(person, candidate, waId, ids);
    }
    return person;
  }

  /**
   * Joins both, unless user ids of another portfolio or an operator contradict: then the observed user ids move to the holder of the
   * number.
   */
  #joinUnlessContradicted(person: Person, candidate: Person, waId: string, ids: readonly UserId[]): Person {
    const isSeparated = areSeparated(person, candidate);
    const others = userRows(person).filter(row => row.waId !== null && isPairedWith(row, waId));
    if (!isSeparated && !contradicts(candidate, waId, others)) return this.#join(person, candidate);
    for (const id of ids) {
      const row = userRows(person).find(one => keyOf(one) === keyOf(id));
      if (!row) continue;
      person.identities = person.identities.filter(one => one !== row);
      row.isDirty = true;
      // The number that it was seen with before stays with its contact.
      if (isSeparated) row.waId = waId;
      candidate.identities.push(row);
      this.#index(candidate, row);
    }
    return candidate;
  }

  #join(a: Person | undefined, b: Person | undefined): Person {
    if (!a || !b || a === b || areSeparated(a, b)) return (a ?? b) as Person;
    const [survivor, loser] = [a, b].sort(bySurvival) as [Person, Person];
    loser.mergedInto = survivor;
    survivor.profileName ??= loser.profileName;
    this.merges.push({ survivor, loser });
    for (const row of loser.identities) {
      row.isDirty = true;
      survivor.identities.push(row);
    }
    loser.identities = [];
    const { phone, phoneKey: key } = loser;
    this.#setPhone(loser, null);
    if (survivor.phone === null && phone !== null) this.#setPhone(survivor, phone, key);
    return survivor;
  }

  #create(): Person {
    const person: Person = {
      id: this.#nextId,
      phone: null,
      phoneKey: null,
      secondKeys: [],
      weight: 0,
      identities: [],
      mergedInto: null,
      profileName: undefined,
      apart: new Set(),
    };
    this.#nextId -= 1;
    this.persons.add(person);
    return person;
  }

  /** Assigns user ids, seen with or without a number, to a person, and ends those that a change notice replaced. */
  #assignUserIds(
    person: Person,
    ids: readonly UserId[],
    waId: string | undefined,
    atMs: number,
    replacedBy: readonly UserId[],
  ): void {
    for (const id of ids) {
      const isReplaced = replacedBy.some(next => next.portfolio === id.portfolio && next.value !== id.value);
      let row = userRows(person).find(one => keyOf(one) === keyOf(id));
      // Belongs to another known person.
      if (!row && this.#find(id)) continue;
      if (!row) {
        row = newIdentity('user_id', id.value, atMs, { portfolio: id.portfolio, waId: waId ?? null });
        person.identities.push(row);
        this.#index(person, row);
      }
      if (isReplaced && row.endedAtMs === null) {
        if (row.id !== null) this.#addReason(person, 'user_id_changed');
        row.endedAtMs = Math.max(row.startedAtMs, atMs);
        row.isDirty = true;
      }
      if (waId !== undefined && row.waId !== waId && this.#isNewer(person, row.waId, atMs)) {
        const left = row.waId;
        row.waId = waId;
        row.isDirty = true;
        if (left !== null) this.#release(person, left, atMs, waId);
      }
    }
  }

  /** Whether an observation is newer than the start of the person's known number. */
  #isNewer(person: Person, waId: string | null, atMs: number): boolean {
    const row = waId === null ? undefined : numbersOf(person, waId).at(-1);
    return row === undefined || atMs >= row.startedAtMs;
  }

  /** When user ids seen with a number moved to another number, if that is known already; otherwise null. */
  #leftAt(person: Person, waId: string, ids: readonly UserId[], atMs: number): number | null {
    const keys = new Set(ids.map(keyOf));
    const later = userRows(person)
      .filter(row => keys.has(keyOf(row)) && row.waId !== null && row.waId !== waId)
      .flatMap(row => numbersOf(person, row.waId ?? ''))
      .filter(row => row.startedAtMs > atMs);
    return later.length === 0 ? null : Math.min(...later.map(row => row.startedAtMs));
  }

  /** Ends a person's number in favour of another one. */
  #release(person: Person, waId: string, atMs: number, next: string): void {
    const rows = numbersOf(person, waId);
    for (const row of rows) {
      if (row.endedAtMs !== null || row.startedAtMs > atMs) continue;
      row.endedAtMs = atMs;
      row.isDirty = true;
    }
    // Recorded even without an observation, because an earlier message may still arrive.
    if (!rows.some(row => heldAt(row, atMs))) {
      this.#takeFromOthers(person, waId, atMs);
      const row = newIdentity('wa_id', waId, atMs, { endedAtMs: atMs });
      person.identities.push(row);
      this.#index(person, row);
    }
    if (person.phoneKey === phoneKey(waId) && phoneKey(waId) !== phoneKey(next) && this.#isFree(person, next)) {
      this.#setPhone(person, phoneOfWaId(next), phoneKey(next));
      this.#addReason(person, 'number_changed');
    }
  }

  /** Records that a person has a number at an instant. Another holder loses it. */
  #assignNumber(person: Person, waId: string, atMs: number, ids: readonly UserId[], left: string | undefined): void {
    const holders = this.#holdersOf(waId);
    const own = holders.filter(holder => holder.person === person);
    if (!own.some(({ row }) => row.endedAtMs === null || heldAt(row, atMs))) {
      const next = holders.find(({ person: holder, row }) => holder !== person && row.startedAtMs > atMs);
      const endedAtMs = next?.row.startedAtMs ?? this.#leftAt(person, waId, ids, atMs);
      const row = newIdentity('wa_id', waId, atMs, { endedAtMs });
      if (endedAtMs === null) this.#takeFromOthers(person, waId, atMs);
      person.identities.push(row);
      this.#index(person, row);
    }
    if (left !== undefined && left !== waId) this.#release(person, left, atMs, waId);
    const isCurrent = numbersOf(person, waId).some(row => row.endedAtMs === null);
    if (isCurrent && person.phone === null && this.#isFree(person, waId))
      this.#setPhone(person, phoneOfWaId(waId), phoneKey(waId));
  }

  #takeFromOthers(person: Person, waId: string, atMs: number): void {
    const losers = new Set(this.#holdersOf(waId).map(holder => holder.person));
    const named = this.#phoneHolder(waId);
    // A contact with a national variant keeps it: there is no evidence that it has lost its number.
    if (named && hasExactly(named, waId)) losers.add(named);
    losers.delete(person);
    for (const loser of losers) {
      const rows = numbersOf(loser, waId).filter(row => row.endedAtMs === null && row.startedAtMs <= atMs);
      for (const row of rows) {
        row.endedAtMs = atMs;
        row.isDirty = true;
      }
      const isNumber = loser.phoneKey === phoneKey(waId) && (rows.length > 0 || hasExactly(loser, waId));
      if (!isNumber) continue;
      this.#setPhone(loser, null);
      this.#addReason(loser, 'number_reassigned');
    }
  }

  #isFree(person: Person, waId: string): boolean {
    const holder = this.#phoneHolder(waId);
    return holder === undefined || holder === person || holder.phoneKey !== phoneKey(waId);
  }

  #setPhone(person: Person, phone: string | null, key: string | null = null): void {
    if (person.phoneKey !== null && this.#byPhone.get(person.phoneKey) === person)
      this.#byPhone.delete(person.phoneKey);
    person.phone = phone;
    person.phoneKey = key;
    if (key !== null) this.#byPhone.set(key, person);
  }

  /** Records the latest username and former ones, for display. */
  #recordUsername(person: Person, username: string | undefined, atMs: number): void {
    if (username === undefined) return;
    const rows = person.identities.filter(({ kind }) => kind === 'username');
    const current = rows.find(row => row.endedAtMs === null);
    if (current?.value === username || (current && atMs < current.startedAtMs)) return;
    if (!current && rows.some(row => row.value === username && heldAt(row, atMs))) return;
    if (current) {
      current.endedAtMs = atMs;
      current.isDirty = true;
    }
    person.identities.push(newIdentity('username', username, atMs));
  }

  #addReason(person: Person, reason: ChangeReason): void {
    const reasons = this.reasons.get(person);
    if (reasons) reasons.add(reason);
    else this.reasons.set(person, new Set([reason]));
  }

  #index(person: Person, row: Identity): void {
    if (row.kind === 'user_id') this.#byUser.set(keyOf(row), person);
    if (row.kind !== 'wa_id') return;
    const persons = this.#byNumber.get(row.value);
    if (persons) persons.add(person);
    else this.#byNumber.set(row.value, new Set([person]));
  }
}

const areSeparated = (a: Person, b: Person): boolean => a.apart.has(b.id) || b.apart.has(a.id);

/** Stored before new, heavier before lighter, older before younger. */
const bySurvival = (a: Person, b: Person): number =>
  Number(a.id < 0) - Number(b.id < 0) || b.weight - a.weight || (a.id < 0 ? b.id - a.id : a.id - b.id);
