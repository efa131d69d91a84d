import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { asId, asText, type JsonObject } from '../../platform/json.ts';
import { badParameter, refusal } from './graph-error.ts';
import type { EmulatorNumber } from './options.ts';
import { toWaId } from './wa-id.ts';
import type { World } from './world.ts';

export interface Recipient {
  /** As the client wrote it, echoed as `contacts[0].input`. */
  readonly input: string;
  readonly waId: string | undefined;
  readonly userId: string | undefined;
  /** What windows and limits know the person by. */
  readonly person: string;
  /** Addressed by user id: the answer shows no number. */
  readonly byUserId: boolean;
}

/**
 * Whom a message is for: `to` (a number, also as a JSON number) or `recipient` (a business-scoped user id, since
 * 2026-05); `to` wins where both stand.
 *
 * @throws GraphError 100 when both are missing, 131009 when it cannot be a number, 131021 when it is the sender's own
 */
export function readRecipient(world: World, number: EmulatorNumber, body: JsonObject): Recipient {
  const to = asId(body['to']);
  const userId = asText(body['recipient']);
  if (to === undefined && userId !== undefined) {
    const waId = world.people.waIdOf(userId);
    return { input: userId, waId, userId, person: waId ?? userId, byUserId: true };
  }
  if (to === undefined) throw badParameter('The parameter to is required.');
  const waId = waIdOf(world, number, to);
  if (waId === number.displayPhoneNumber.replace(/\D/g, '')) throw refusal(131021);
  const known = world.faults.current.userIds ? world.people.userIdOf(waId) : undefined;
  return { input: to, waId, userId: known, person: waId, byUserId: false };
}

/** The `wa_id` for a number as a client writes it. Without a plus the business number's own country code is put before it. */
function waIdOf(world: World, number: EmulatorNumber, to: string): string {
  let digits = to.replace(/\D/g, '');
  if (!to.trim().startsWith('+') && world.faults.current.prependCountryCode) {
    digits = (parsePhoneNumberFromString(number.displayPhoneNumber)?.countryCallingCode ?? '') + digits;
  }
  if (/[^\d\s()+.-]/.test(to) || digits.length < 7 || digits.length > 17)
    throw refusal(131009, 'Recipient phone number is not valid');
  return world.faults.current.rewriteWaIds ? toWaId(digits) : digits;
}
