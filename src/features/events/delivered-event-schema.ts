import { scopesToRead } from '../../core/events.ts';
import { callerOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { WebhookDelivery } from '../webhooks/log/deliveries-schema.ts';
import { eventOf } from './objects.ts';
import { Event } from './schema.ts';

builder.objectField(WebhookDelivery, 'event', t =>
  t.field({
    type: Event,
    nullable: true,
    description:
      'The event that is delivered. Null if it is no longer in the log, or if the token lacks the scope to read such events.',
    resolve: async (delivery, _args, context) => {
      const { scopes } = callerOf(context);
      if (!scopesToRead([delivery.event_type]).every(scope => scopes.has(scope))) return null;
      return (await eventOf(context).load(delivery.event_id)) ?? null;
    },
  }),
);
