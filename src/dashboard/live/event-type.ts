import type { EventType } from '../documents.generated.ts';

/** `message.opted_out`: the type as webhooks and filters write it. */
export const wireType = (type: EventType): string =>
  type.toLowerCase().replace(/^(group_chat|[a-z]+)_/, (_, resource: string) => `${resource}.`);

/** The tone of an event: failures, arrivals and read messages stand out. */
export function toneOf(type: EventType): string {
  if (/FAILED|DISABLED|REVOKED|OPTED_OUT/.test(type)) return 'tone-failed';
  if (type === 'MESSAGE_RECEIVED' || type === 'MESSAGE_REACTION') return 'tone-received';
  if (type === 'MESSAGE_READ') return 'tone-read';
  if (type === 'MESSAGE_DELIVERED' || type === 'OTP_VERIFIED') return 'tone-delivered';
  return '';
}
