import type { NetworkPerson } from '../../../network/network.ts';
import { phoneKey, spellingsOfKey } from '../../../platform/phone.ts';

/**
 * The identities in one update of the network. A message has only `after`, its sender. A change of number or user id has both sides,
 * and proves that they are one person.
 */
export interface Evidence {
  /** The network's time. */
  readonly atMs: number;
  /** The portfolio within which user ids are unique: that of the channel, or `waba:<id>` if it is unknown. */
  readonly portfolio: string;
  readonly before?: NetworkPerson | undefined;
  readonly after: NetworkPerson;
  readonly username?: string | undefined;
  readonly profileName?: string | undefined;
  /** The user id is the current one, not that of `atMs`: it says nothing about times when the number belonged to another person. */
  readonly isUserIdOfThread?: boolean | undefined;
}

/** Stands for the portfolio of parent ids, which are unique across the portfolios of an enterprise. */
const ENTERPRISE = 'enterprise';

export interface UserId {
  readonly portfolio: string;
  readonly value: string;
}

export function userIdsOf(portfolio: string, person: NetworkPerson | undefined): UserId[] {
  if (!person) return [];
  const { userId, parentUserId } = person;
  return [
    ...(userId === undefined ? [] : [userIdOf(portfolio, userId)]),
    ...(parentUserId === undefined ? [] : [userIdOf(portfolio, parentUserId)]),
  ];
}

const userIdOf = (portfolio: string, value: string): UserId => ({
  portfolio: value.includes('.ENT.') ? ENTERPRISE : portfolio,
  value,
});

export const keyOf = ({ portfolio, value }: UserId): string => `${portfolio} ${value}`;

/** All identities by which contacts of the evidence are looked up. */
export function lookupOf(evidence: readonly Evidence[]): {
  readonly userIds: readonly UserId[];
  readonly waIds: readonly string[];
  readonly phoneKeys: readonly string[];
  readonly phones: readonly string[];
} {
  const userIds = new Map<string, UserId>();
  const waIds = new Set<string>();
  for (const { portfolio, before, after } of evidence) {
    for (const person of [before, after]) {
      for (const id of userIdsOf(portfolio, person)) userIds.set(keyOf(id), id);
      if (person?.waId !== undefined) waIds.add(person.waId);
    }
  }
  const phoneKeys = [...new Set([...waIds].map(waId => phoneKey(waId)))];
  return {
    userIds: [...userIds.values()],
    waIds: [...waIds],
    phoneKeys,
    phones: phoneKeys.flatMap(key => spellingsOfKey(key).map(digits => `+${digits}`)),
  };
}
