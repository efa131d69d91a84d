import { EVENT_TYPES, type EventType, eventWord } from '../core/events.ts';
import { builder } from './builder.ts';

export const EventTypeEnum = builder.enumType('EventType', {
  description:
    'The types of events. Webhooks and REST write `MESSAGE_SENT` as `message.sent`: the first `_` is the dot (`GROUP_CHAT_UPDATED`: `group_chat.updated`).',
  values: Object.fromEntries(
    EVENT_TYPES.map(value => [eventWord(value), { value, description: `Events \`${value}\`.` }]),
  ) as Record<string, { value: EventType; description: string }>,
});
