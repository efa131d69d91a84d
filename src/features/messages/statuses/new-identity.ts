import type { NetworkPerson, SendOutcome } from '../../../network/network.ts';
import { phoneKey } from '../../../platform/phone.ts';
import { userIdsOf } from '../../contacts/recognition/evidence.ts';

/** The stored identities of a message's recipient, read with the message's state. */
export interface RecipientIdentities {
  readonly phone: string | null;
  /** Portfolio of the channel, in which user ids are unique. */
  readonly portfolio: string;
  /** Current numbers and user ids; `waId` is the number that was seen with a user id. */
  readonly identities:
    | readonly (readonly [kind: string, portfolio: string, value: string, waId: string | null])[]
    | null;
}

/**
 * Whether a status or the response to a send contains a new identity of the recipient. It must also contain a known identity: a
 * number that the contact no longer has may belong to another person.
 */
export function hasNewIdentity(known: RecipientIdentities, person: NetworkPerson): boolean {
  const { waId } = person;
  const identities = known.identities ?? [];
  const hasNumber = identities.some(([kind, , value]) => kind === 'wa_id' && value === waId);
  const isPhone =
    waId !== undefined &&
    known.phone !== null &&
    (known.phone === `+${waId}` || phoneKey(known.phone) === phoneKey(waId));
  const ids = userIdsOf(known.portfolio, person).map(id =>
    identities.find(
      ([kind, portfolio, value]) => kind === 'user_id' && portfolio === id.portfolio && value === id.value,
    ),
  );
  if (!hasNumber && !isPhone && ids.every(row => row === undefined)) return false;
  if (ids.some(row => row === undefined || (waId !== undefined && row[3] !== waId))) return true;
  // The contact's own number needs no identity row; a national variant of it does.
  return waId !== undefined && !hasNumber && known.phone !== `+${waId}`;
}

/** The person in the response to a send; undefined if it only repeats the number that the message was sent to. */
export function personInResponse(phone: string | null, outcome: SendOutcome): NetworkPerson | undefined {
  if (outcome.kind !== 'accepted') return undefined;
  const { waId, userId } = outcome;
  if (userId === undefined && (waId === undefined || phone === `+${waId}`)) return undefined;
  return { waId, userId, parentUserId: undefined };
}
