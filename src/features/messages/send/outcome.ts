import { CodedError } from '../../../core/errors.ts';
import type { MessageRow } from '../message.ts';

/** Title of the error of a message that was not sent, because its contact opted out after it was accepted. */
export const OPTED_OUT = 'Contact opted out';
/** Title of the error of a message that could not be sent within a day of its first attempt. */
export const NOT_SENT_IN_TIME = 'Not sent within 24 hours';
/** Title of the error of a message whose channel was disconnected while it was unknown whether the network had accepted it. */
export const DISCONNECTED_IN_DOUBT = 'Channel disconnected';

/** A message that was accepted and then failed or was stopped, while its sender waited. */
export class MessageFailed extends CodedError {
  readonly row: MessageRow;

  constructor(code: 'MESSAGE_SEND_FAILED' | 'CONTACT_OPTED_OUT', message: string, details: object, row: MessageRow) {
    super(code, message, { details: { ...details, message_id: row.id } });
    this.row = row;
  }
}

/** @throws MESSAGE_SEND_FAILED if the message failed or was cancelled, CONTACT_OPTED_OUT if an opt-out stopped it */
export function throwIfFailed(row: MessageRow): void {
  const { status, error } = row;
  if (status !== 'failed' && status !== 'cancelled') return;
  // 0: decided by the gateway, without a call to the network.
  const isOwn = error?.code === 0;
  if (isOwn && error.title === OPTED_OUT)
    throw new MessageFailed(
      'CONTACT_OPTED_OUT',
      error.details ?? 'This contact asked not to be messaged.',
      { contact_id: row.contact_id },
      row,
    );
  throw new MessageFailed(
    'MESSAGE_SEND_FAILED',
    status === 'cancelled'
      ? `The message was cancelled: ${error?.details ?? 'no reason given'}`
      : `${isOwn ? 'The message was not sent' : 'The network refused the message'}: ${error?.title ?? 'no reason given'}.`,
    { provider: error },
    row,
  );
}

/** The current message, with the additional fields that were read at its acceptance. @throws as `throwIfFailed` */
export function outcomeOf(message: MessageRow, accepted: MessageRow): MessageRow {
  const known = {
    ...message,
    window_expires_at: accepted.window_expires_at ?? null,
    ...(accepted.phone !== undefined && { phone: accepted.phone }),
    ...(accepted.contact_created !== undefined && { contact_created: accepted.contact_created }),
  };
  throwIfFailed(known);
  return known;
}
