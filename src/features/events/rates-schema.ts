import { encodeCursor } from '../../events/cursor.ts';
import { builder } from '../../schema/builder.ts';
import { EventTypeEnum } from '../../schema/event-types.ts';
import { type EventCount, type EventRates, followRates } from './rates.ts';

const Count = builder.objectRef<EventCount>('EventCount').implement({
  description: 'Number of events of one type in one second.',
  fields: t => ({
    second: t.field({
      type: 'DateTime',
      description: 'Start of the second in which they occurred.',
      resolve: ({ secondMs }) => new Date(secondMs).toISOString(),
    }),
    type: t.expose('type', { type: EventTypeEnum, description: 'What happened.' }),
    count: t.exposeInt('count', {
      description: 'Number of events since the last value of the stream; a second can be counted in several.',
    }),
  }),
});

const Rates = builder.objectRef<EventRates>('EventRates').implement({
  description: 'Counts of the events since the last value of the stream.',
  fields: t => ({
    cursor: t.string({
      description: 'Place in the event log behind the last event that is counted.',
      resolve: ({ cursor }, _args, context) => encodeCursor(cursor, context.logGeneration),
    }),
    counts: t.field({
      type: [Count],
      description: 'By second and type.',
      resolve: ({ counts }) => [...counts],
    }),
  }),
});

builder.subscriptionField('eventRates', t =>
  t.field({
    type: Rates,
    description:
      'Streams how many events of each type occur in each second, at most one value a second, whatever their rate. Counts the types that the token may read. With `after`, those behind that cursor are counted first, so that no event is missed or counted twice. Errors: CURSOR_EXPIRED.',
    authScopes: { scope: 'events:read' },
    args: { after: t.arg.string({ description: 'Cursor of the last value received, or `eventCursor`.' }) },
    subscribe: (_root, { after }, context) => followRates(context, after),
    resolve: rates => rates,
  }),
);
