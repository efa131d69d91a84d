import { CodedError } from '../../../core/errors.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { MessageRow } from '../message.ts';

/** Maximum wait of a caller for the network to accept the message. */
export const ACCEPTANCE_TIMEOUT_MS = 5 * SECOND;

/** Title of the error of a message that was not sent, because its contact opted out after it was accepted. */
export const OPTED_OUT = 'Contact opted out';

/** @throws MESSAGE_SEND_FAILED if the message failed or was cancelled, CONTACT_OPTED_OUT if an opt-out stopped it */
export function throwIfFailed({ id, status, error }: MessageRow): void {
  if (status !== 'failed' && status !== 'cancelled') return;
  // 0: decided by the gateway, without a call to the network.
  const isOwn = error?.code === 0;
  if (isOwn && error.title === OPTED_OUT)
    throw new CodedError('CONTACT_OPTED_OUT', error.details ?? 'This contact asked not to be messaged.', {
      message_id: id,
    });
  throw new CodedError(
    'MESSAGE_SEND_FAILED',
    status === 'cancelled'
      ? `The message was cancelled: ${error?.details ?? 'no reason given'}`
      : `${isOwn ? 'The message was not sent' : 'The network refused the message'}: ${error?.title ?? 'no reason given'}.`,
    {
      provider: error,
      message_id: id,
    },
  );
}

/** The current message, with the additional fields that were read at its acceptance. @throws as `throwIfFailed` */
export function outcomeOf(message: MessageRow, accepted: MessageRow): MessageRow {
  throwIfFailed(message);
  return {
    ...message,
    window_expires_at: accepted.window_expires_at ?? null,
    ...(accepted.phone !== undefined && { phone: accepted.phone }),
    ...(accepted.contact_created !== undefined && { contact_created: accepted.contact_created }),
  };
}
