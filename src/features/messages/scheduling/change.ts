import { conflict, invalid, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { Context } from '../../../schema/context.ts';
import { contactLoader, identitiesLoader } from '../../contacts/loaders.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { goneFault } from '../content/media/file.ts';
import { uploadEnd } from '../content/media/store.ts';
import { contentOfMessage } from '../content/message-content.ts';
import { cancelWaiting } from '../dispatch/cancel.ts';
import { laneOf, OUTBOX } from '../dispatch/lane.ts';
import { findMessage } from '../loaders.ts';
import type { MessageRow } from '../message.ts';
import { payloadsOf } from '../people.sql.ts';
import { setDue } from './scheduled.sql.ts';
import { fieldOf, type ScheduledAt, scheduledInstant } from './scheduled-at.ts';

interface Change {
  /** Of the message. */
  readonly id: string;
  readonly idempotencyKey?: string | null | undefined;
}

/** Cancels a message that was not submitted to the network. @throws NOT_FOUND; CONFLICT if it was */
export async function cancelMessage(context: Context, input: Change): Promise<MessageRow> {
  const tenantId = tenantOf(context);
  const reason = `Cancelled by ${authorOf(context).name}.`;
  const released: number[] = [];
  const message = await changeOnce(context, 'cancelMessage', input, async trx => {
    const { messageIds, releasedChannelIds } = await cancelWaiting(trx, tenantId, { messageIds: [input.id] }, reason);
    released.push(...releasedChannelIds);
    const row = await requireMessage(trx, tenantId, input.id);
    if (messageIds.length === 0 && row.status !== 'cancelled')
      throw conflict(
        'The message cannot be cancelled: it was submitted to the network already, or it is not an outbound message.',
      );
    return row;
  });
  for (const channelId of released) context.lanes.wake(OUTBOX, laneOf(tenantId, channelId));
  context.signals.send('events');
  return message;
}

/** Changes the time of a scheduled message. @throws NOT_FOUND; CONFLICT if it is not scheduled any more; VALIDATION_ERROR */
export async function rescheduleMessage(
  context: Context,
  input: Change & { readonly scheduledAt: ScheduledAt },
): Promise<MessageRow> {
  const tenantId = tenantOf(context);
  const known = await requireMessage(context.db.read, tenantId, input.id);
  const contact = await contactLoader(context).load(known.contact_id);
  const identities = await identitiesLoader(context).load(known.contact_id);
  const userId = identities.find(({ kind, ended_at }) => kind === 'user_id' && ended_at === null)?.value ?? null;
  const place = { timeZone: contact?.time_zone ?? null, phone: contact?.phone ?? null, userId };
  const message = await changeOnce(context, 'rescheduleMessage', input, async trx => {
    // Not before: a repetition with its key may come when the time has passed.
    const at = scheduledInstant(input.scheduledAt, place, context.clock.now());
    const fault = known.status === 'scheduled' ? await fileFault(trx, tenantId, known, at) : undefined;
    if (fault !== undefined) throw invalid({ [fieldOf(input.scheduledAt)]: [fault] }, 'OUT_OF_RANGE');
    if (!(await setDue(trx, tenantId, input.id, at))) throw conflict('The message is not scheduled any more.');
    const row = await requireMessage(trx, tenantId, input.id);
    const payloadOf = await payloadsOf(trx, tenantId, [row]);
    await append(trx, tenantId, [{ type: 'message.scheduled', payload: { ...payloadOf(row), scheduled_at: at } }]);
    return row;
  });
  context.signals.send('events');
  return message;
}

/** Why the file of a message cannot be sent at an instant; undefined if it can, for a link, and if its upload is not known. */
async function fileFault(db: Db, tenantId: number, message: MessageRow, at: string): Promise<string | undefined> {
  const shape = contentOfMessage(message);
  const file = shape.kind === 'MediaContent' ? shape.file : shape.kind === 'TemplateContent' ? shape.sentFile : null;
  if (file?.networkId == null) return undefined;
  const expiresAt = await uploadEnd(db, tenantId, file.networkId);
  return expiresAt === undefined ? undefined : goneFault(expiresAt, at);
}

const changeOnce = (
  context: Context,
  operation: string,
  { idempotencyKey, ...input }: Change,
  run: (trx: Db) => Promise<MessageRow>,
): Promise<MessageRow> =>
  once<MessageRow>(
    context,
    { operation, key: idempotencyKey, input },
    {
      run,
      store: ({ id }) => ({ id }),
      contactId: ({ contact_id }) => contact_id,
      rebuild: () => requireMessage(context.db.write, tenantOf(context), input.id),
    },
  );

/** @throws NOT_FOUND */
async function requireMessage(db: Db, tenantId: number, id: string): Promise<MessageRow> {
  const row = await findMessage(db, tenantId, id);
  if (!row) throw notFound('Message');
  return row;
}
