import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { asId, asText, type JsonObject } from '../platform/json.ts';
import { badParameter, graphError } from './graph-error.ts';
import { type EmulatorNumber, portfolioOf } from './options.ts';
import { toWaId } from './wa-id.ts';
import type { World } from './world.ts';

export interface Recipient {
  /** As given by the client; returned as `contacts[0].input`. */
  readonly input: string;
  readonly waId: string | undefined;
  readonly userId: string | undefined;
  /** Key of the person for windows and limits. */
  readonly person: string;
  /** Whether addressed by user id: the response then shows no number. */
  readonly byUserId: boolean;
}

/**
 * The recipient of a message: `to` (a number, also as a JSON number) or `recipient` (a business-scoped user id, since 2026-05); `to`
 * takes precedence.
 *
 * @throws GraphError 100 if both are missing, 131009 if it cannot be a number, 131021 if it is the sender's own
 */
export function readRecipient(world: World, number: EmulatorNumber, body: JsonObject): Recipient {
  const to = asId(body['to']);
  const userId = asText(body['recipient']);
  if (to === undefined && userId !== undefined) {
    if (world.people.isForeign(userId, portfolioOf(number)))
      throw graphError(131009, 'recipient is a user id of another business portfolio');
    const waId = world.people.waIdOf(userId);
    return { input: userId, waId, userId, person: waId ?? userId, byUserId: true };
  }
  if (to === undefined) throw badParameter('The parameter to is required.');
  const waId = waIdOf(world, number, to);
  if (waId === number.displayPhoneNumber.replace(/\D/g, '')) throw graphError(131021);
  const known = world.faults.current.userIds ? world.people.userIdOf(waId, portfolioOf(number)) : undefined;
  return { input: to, waId, userId: known, person: waId, byUserId: false };
}

/** The `wa_id` of a number given by a client. Without a plus, the country code of the business number is prepended. */
function waIdOf(world: World, number: EmulatorNumber, to: string): string {
  let digits = to.replace(/\D/g, '');
  if (!to.trim().startsWith('+') && world.faults.current.prependCountryCode) {
    digits = (parsePhoneNumberFromString(number.displayPhoneNumber)?.countryCallingCode ?? '') + digits;
  }
  if (/[^\d\s()+.-]/.test(to) || digits.length < 7 || digits.length > 17)
    throw graphError(131009, 'Recipient phone number is not valid');
  return world.faults.current.rewriteWaIds ? toWaId(digits) : digits;
}
