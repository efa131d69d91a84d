import { brandWithType } from '@pothos/core';
import { conflict, FieldErrorList, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { staffLoader } from '../tenancy/staff/schema.ts';
import { lockConversations, writeStates, writeTags } from './change.sql.ts';
import type { PublicConversation } from './conversation.ts';
import { requireLastInbound } from './expected-last.ts';
import { updatedEvent } from './fold.ts';
import { tagLoader } from './loaders.ts';
import { currentIds, getConversations, resolveConversation } from './state.sql.ts';
import { afterPatch, type ConversationPatch, patchFault } from './transition.ts';

/** Change of a conversation by a mutation, with database ids. */
export interface ConversationChange extends ConversationPatch {
  readonly addTagIds?: readonly number[] | undefined;
  readonly removeTagIds?: readonly number[] | undefined;
}

export interface ConversationUpdate extends ConversationChange {
  /** Undefined: any; null: unassigned. */
  readonly expectedAssigneeId?: number | null | undefined;
  /** Undefined: any. */
  readonly expectedLastMessageId?: string | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

const MAX_TAGS = 50;

/**
 * Checks what does not depend on the conversation.
 * @param prefix path of the change in the input
 * @throws VALIDATION_ERROR with all faults
 */
export async function checkChange(context: Context, change: ConversationChange, prefix = ''): Promise<void> {
  const { assigneeId, addTagIds = [] } = change;
  const errors = new FieldErrorList();
  const fault = patchFault(change, undefined, context.clock.now());
  for (const message of fault?.snoozedUntil ?? []) errors.add(`${prefix}snoozedUntil`, message, 'OUT_OF_RANGE');
  if (assigneeId != null && !(await staffLoader(context).load(assigneeId)))
    errors.add(`${prefix}assigneeId`, 'There is no staff member with this id.', 'REFERENCE_NOT_FOUND');
  if (addTagIds.length > MAX_TAGS) errors.add(`${prefix}addTagIds`, `Takes at most ${MAX_TAGS} tags.`, 'TOO_MANY');
  else {
    const tags = await tagLoader(context).loadMany(addTagIds);
    for (const [index, tag] of tags.entries())
      if (!tag) errors.add(`${prefix}addTagIds.${index}`, 'There is no tag with this id.', 'REFERENCE_NOT_FOUND');
  }
  errors.throwIfAny();
}

/**
 * Changes status, assignee and tags of a conversation, or of the one that merges have folded it into, with `conversation.updated` if anything changed. Two people who assign at once
 * with the same `expectedAssigneeId` do not both succeed.
 * @throws NOT_FOUND, VALIDATION_ERROR; CONFLICT with the present conversation, or the new message, as `current`
 */
export async function updateConversation(
  context: Context,
  id: number,
  { expectedAssigneeId, expectedLastMessageId, idempotencyKey, ...change }: ConversationUpdate,
): Promise<PublicConversation> {
  const tenantId = tenantOf(context);
  const nowMs = context.clock.now();
  const input = { id, expectedAssigneeId, expectedLastMessageId, ...change };
  const conversation = await once(
    context,
    { operation: 'updateConversation', key: idempotencyKey, input },
    {
      run: async trx => {
        await checkChange(context, change);
        const [before] = await lockConversations(trx, tenantId, await currentIds(trx, tenantId, [id]));
        if (!before) throw notFound('Conversation');
        if (expectedAssigneeId !== undefined && before.assignee_id !== expectedAssigneeId) {
          brandWithType(before, 'Conversation' as never);
          throw conflict('Another request has assigned the conversation.', { current: before });
        }
        if (expectedLastMessageId !== undefined)
          await requireLastInbound(context, trx, before.id, expectedLastMessageId);
        const errors = new FieldErrorList();
        for (const message of patchFault(change, before, nowMs)?.snoozedUntil ?? [])
          errors.add('snoozedUntil', message, 'SURPLUS');
        errors.throwIfAny();
        const [after] = await applyChange(trx, tenantId, [before], change, nowMs);
        return after ?? before;
      },
      store: () => ({ id }),
      rebuild: async () => {
        const row = await resolveConversation(context.db.write, tenantId, id);
        if (!row) throw notFound('Conversation');
        return row;
      },
    },
  );
  context.signals.send('events');
  return conversation;
}

/** Applies a change to locked conversations, with an event for each that it changes. @returns them as they are now */
export async function applyChange(
  trx: Db,
  tenantId: number,
  locked: readonly PublicConversation[],
  change: ConversationChange,
  nowMs: number,
): Promise<PublicConversation[]> {
  const nowIso = new Date(nowMs).toISOString();
  const states = locked.map(row => ({ ...row, ...afterPatch(row, change) }));
  const changed = states.filter((state, index) => hasChanged(state, locked[index]));
  if (changed.length > 0) await writeStates(trx, tenantId, changed, nowIso);
  const { addTagIds: added = [], removeTagIds: removed = [] } = change;
  const ids = locked.map(({ id }) => id);
  if (added.length + removed.length > 0) await writeTags(trx, tenantId, ids, { added, removed });
  const after = new Map((await getConversations(trx, tenantId, ids)).map(row => [row.id, row]));
  await append(
    trx,
    tenantId,
    locked.flatMap(before => {
      const row = after.get(before.id);
      return row ? updatedEvent(before, row) : [];
    }),
  );
  return ids.flatMap(id => after.get(id) ?? []);
}

const hasChanged = (after: PublicConversation, before: PublicConversation | undefined): boolean =>
  !before ||
  after.status !== before.status ||
  after.snoozed_until !== before.snoozed_until ||
  after.assignee_id !== before.assignee_id ||
  after.waiting_since !== before.waiting_since;
