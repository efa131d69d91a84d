import { phoneKey } from '../../../platform/phone.ts';
import { phoneOf } from '../contact.ts';
import { keyOf, type UserId } from './evidence.ts';

export type IdentityKind = 'wa_id' | 'user_id' | 'username';

/** A row of contact_identities. Mutable; changed rows are written. */
export interface Identity {
  /** Null for one that is not stored yet. */
  readonly id: number | null;
  readonly kind: IdentityKind;
  /** See `Evidence`. Empty for kinds other than user ids. */
  portfolio: string;
  readonly value: string;
  /** The number last seen with a user id. */
  waId: string | null;
  readonly startedAtMs: number;
  endedAtMs: number | null;
  isDirty: boolean;
}

/** A contact as recognition sees it. */
export interface Person {
  /** Negative for one that is not stored yet. */
  readonly id: number;
  phone: string | null;
  phoneKey: string | null;
  /** Keys of other numbers that the tenant knows the contact by. */
  readonly secondKeys: readonly string[];
  /** Number of filled fields (`WEIGHT`): the heavier contact survives a merge, then the older one. */
  readonly weight: number;
  identities: Identity[];
  mergedInto: Person | null;
  /** The name that they show on the network, as far as the evidence has it. */
  profileName: string | undefined;
  /** Contacts whose merge with this one an operator has undone; evidence of the network does not merge them again. */
  readonly apart: ReadonlySet<number>;
}

/** The person after merges. */
export function finalOf(person: Person): Person {
  let final = person;
  while (final.mergedInto) final = final.mergedInto;
  return final;
}

export const newIdentity = (
  kind: IdentityKind,
  value: string,
  startedAtMs: number,
  fields: { readonly portfolio?: string; readonly waId?: string | null; readonly endedAtMs?: number | null } = {},
): Identity => ({
  id: null,
  kind,
  portfolio: fields.portfolio ?? '',
  value,
  waId: fields.waId ?? null,
  startedAtMs,
  endedAtMs: fields.endedAtMs ?? null,
  isDirty: true,
});

export const numbersOf = (person: Person, waId: string): Identity[] =>
  person.identities.filter(({ kind, value }) => kind === 'wa_id' && value === waId);

export const userRows = (person: Person): Identity[] => person.identities.filter(({ kind }) => kind === 'user_id');

/** Whether the number was the person's at an instant, so that an observation from then adds nothing. */
export const heldAt = (row: Identity, atMs: number): boolean =>
  row.endedAtMs === null ? row.startedAtMs <= atMs : atMs <= row.endedAtMs;

/** Numbers of the network are valid, even if our metadata does not know their country yet. */
export const phoneOfWaId = (waId: string): string => phoneOf(waId)?.e164 ?? `+${waId}`;

/** Whether the contact has exactly this number, not a national variant. */
export const hasExactly = (person: Person, waId: string): boolean => person.phone === phoneOfWaId(waId);

/**
 * Whether user ids seen with a number contradict that the candidate has the number: the candidate has another user id of the same
 * portfolio that is paired with the number, or with an unknown number. User ids of other portfolios prove nothing.
 */
export function contradicts(candidate: Person, waId: string, seen: readonly UserId[]): boolean {
  const rows = userRows(candidate);
  const known = new Set(rows.map(keyOf));
  return seen.some(
    id =>
      !known.has(keyOf(id)) &&
      rows.some(row => row.portfolio === id.portfolio && row.value !== id.value && isPairedWith(row, waId)),
  );
}

/** Whether a user id is paired with a number. Compares phone keys, so that spellings of one number count as equal. */
export const isPairedWith = (row: Identity, waId: string): boolean =>
  row.waId === null ? row.endedAtMs === null : phoneKey(row.waId) === phoneKey(waId);
