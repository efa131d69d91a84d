import { selectionOf } from '../openapi/schema.ts';
import { body } from '../runtime/fields.ts';
import { type Route, requireRow, route } from '../runtime/route.ts';
import {
  CancelMessageDocument,
  type ChangedMessageFragment,
  RescheduleMessageDocument,
} from '../wire/documents.generated.ts';
import { RESCHEDULED_AT, toInstant, wireStatus } from '../wire/sending.ts';
import { time } from '../wire/values.ts';

const messageRow = ({ id, status, scheduled_at }: ChangedMessageFragment) => ({
  id,
  status: wireStatus(status),
  scheduled_at: time(scheduled_at),
});

/** Routes for messages that are not yet submitted to the network. */
export const scheduledRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/:id/reschedule',
    resource: 'Message',
    idKind: 'uuid',
    document: RescheduleMessageDocument,
    body: body(RESCHEDULED_AT),
    answer: selectionOf('result.row'),
    example: { scheduled_at: '2030-01-31T09:00:00Z' },
    errors: ['CONFLICT'],
    names: { 'scheduledAt.instant': 'scheduled_at' },
    variables: ({ call, id, body: { scheduled_at: at } }) => ({
      input: { id, scheduledAt: { instant: toInstant(at) }, idempotencyKey: call.idempotencyKey },
    }),
    respond: ({ result: { row } }) => ({
      message: 'Message rescheduled',
      data: messageRow(requireRow(row, 'Message')),
    }),
  }),
  route({
    method: 'POST',
    path: '/messages/:id/cancel',
    resource: 'Message',
    idKind: 'uuid',
    document: CancelMessageDocument,
    answer: selectionOf('result.row'),
    errors: ['CONFLICT'],
    variables: ({ call, id }) => ({ input: { id, idempotencyKey: call.idempotencyKey } }),
    respond: ({ result: { row } }) => ({ message: 'Message cancelled', data: messageRow(requireRow(row, 'Message')) }),
  }),
];
