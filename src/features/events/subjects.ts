import { EVENT_TYPES, type EventResource, type EventType, resourceOf } from '../../core/events.ts';

/** The object that an event is about: its type in GraphQL, and where the payload has its key. */
interface Subject {
  readonly node: string;
  readonly path: readonly [string, string];
}

const SUBJECTS: Readonly<Record<EventResource, Subject>> = {
  bot: { node: 'Bot', path: ['bot', 'id'] },
  campaign: { node: 'Campaign', path: ['campaign', 'id'] },
  contact: { node: 'Contact', path: ['contact', 'id'] },
  consent: { node: 'Contact', path: ['contact', 'id'] },
  group: { node: 'ContactGroup', path: ['group', 'id'] },
  source: { node: 'ContactSource', path: ['source', 'id'] },
  status: { node: 'ContactStatus', path: ['status', 'id'] },
  message: { node: 'Message', path: ['message', 'id'] },
  channel: { node: 'Channel', path: ['channel', 'id'] },
  conversation: { node: 'Conversation', path: ['conversation', 'id'] },
  group_chat: { node: 'GroupChat', path: ['group_chat', 'id'] },
  template: { node: 'Template', path: ['template', 'id'] },
  otp: { node: 'Otp', path: ['otp', 'id'] },
  webhook: { node: 'WebhookEndpoint', path: ['webhook', 'id'] },
  export: { node: 'Export', path: ['export', 'id'] },
  order: { node: 'Integration', path: ['integration', 'id'] },
};

const DELIVERY: Subject = { node: 'WebhookDelivery', path: ['delivery', 'id'] };

export const subjectOf = (type: EventType): Subject =>
  type === 'webhook.delivery_attempted' ? DELIVERY : SUBJECTS[resourceOf(type)];

/** The key of an event's object, in digits or a UUID. */
export function subjectKey(type: EventType, payload: Readonly<Record<string, unknown>>): string {
  const [object, key] = subjectOf(type).path;
  return String((payload[object] as Readonly<Record<string, unknown>> | undefined)?.[key] ?? '');
}

/** Types after which the event's object is another one than before: not those that only mention it. */
export const CHANGES: ReadonlySet<EventType> = new Set(
  EVENT_TYPES.filter(type => !['bot', 'order'].includes(resourceOf(type)) && type !== 'webhook.test'),
);
