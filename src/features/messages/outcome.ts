import { CodedError } from '../../errors.ts';
import { SECOND } from '../../platform/clock.ts';
import type { MessageRow } from './message.ts';

/** How long a caller may wait for the network to take the message. */
export const ACCEPTANCE_TIMEOUT_MS = 5 * SECOND;

/** A message that the network refused while its sender waited is the sender's error. @throws MESSAGE_SEND_FAILED */
export function throwIfFailed({ id, status, error }: MessageRow): void {
  if (status !== 'failed') return;
  throw new CodedError(
    'MESSAGE_SEND_FAILED',
    `The network refused the message: ${error?.title ?? 'no reason given'}.`,
    {
      provider: error,
      message_id: id,
    },
  );
}

/** What became of a message, with what was read along when it was accepted. @throws MESSAGE_SEND_FAILED */
export function outcomeOf(message: MessageRow, accepted: MessageRow): MessageRow {
  throwIfFailed(message);
  return {
    ...message,
    window_expires_at: accepted.window_expires_at ?? null,
    ...(accepted.phone !== undefined && { phone: accepted.phone }),
    ...(accepted.contact_created !== undefined && { contact_created: accepted.contact_created }),
  };
}
