import type { Resources } from '../../schema/context.ts';
import type { SendAs } from '../templates/sending/send-template.ts';
import { fenceKey } from '../tenancy/idempotency/keys.ts';
import { activate } from './activate.ts';
import { deleteSending } from './codes.sql.ts';
import { findAcceptedMessage } from './store.ts';

/** The message is accepted under an idempotency key derived from the code's id, so that any process can tell whether it was accepted. */
export const AS_OTP: SendAs = { operation: 'otp', feature: 'otp' };
export const messageKeyOf = (otpId: string): string => `otp:${otpId}`;

/**
 * Ends the send of a code whose process died: if its message was accepted, the code becomes live; otherwise it is removed with the
 * caller's idempotency key, which can then be used again. The key of the message is taken first, so that a send that is only slow
 * cannot have its message accepted afterwards.
 */
export async function settle(
  resources: Pick<Resources, 'db' | 'signals'>,
  tenantId: number,
  code: { readonly id: string; readonly phone_key: string; readonly purpose: string },
): Promise<void> {
  const { id } = code;
  const { db } = resources;
  const isRemoved = await db.transaction(async trx => {
    if (!(await fenceKey(trx, tenantId, messageKeyOf(id)))) return false;
    await deleteSending(trx, tenantId, id);
    return true;
  });
  if (isRemoved) return;
  const message = await findAcceptedMessage(db.write, tenantId, AS_OTP.operation, messageKeyOf(id));
  if (message) await activate(resources, tenantId, { phoneKey: code.phone_key, purpose: code.purpose }, id, message);
  // Settled by another process, or the contact is gone with the message.
  else await deleteSending(db.write, tenantId, id);
}
