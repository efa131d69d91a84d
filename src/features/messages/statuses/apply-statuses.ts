import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { appendForTenants } from '../../../events/append.ts';
import type { SeenRecipient } from '../../contacts/resolve-contacts.ts';
import { failCodes } from '../../otp/fail-codes.ts';
import { type MessageRef, type Settled, settle } from '../dispatch/outbox.sql.ts';
import { keepReactions } from '../inbound/reactions.ts';
import type { MessageRow } from '../message.ts';
import { messagePayload } from '../people.sql.ts';
import { hasNewIdentity, type RecipientIdentities } from './new-identity.ts';
import { findIdsByWamid, type LockedMessage, lockOutbound, lockWithRecipients, writeStates } from './states.sql.ts';
import { foldStatuses, type StatusStep, type StatusUpdate } from './status.ts';

/** A status of a message, identified by our id if the network returned it, otherwise by the network's. */
export type AddressedStatus = StatusUpdate & {
  readonly messageId?: string | undefined;
  /** The channel whose secret signed the webhook, if the status came with one. The status applies to messages of that channel only. */
  readonly channelId?: number;
};

export interface AppliedStatuses {
  /** Channels with messages that were blocked by a message settled here. */
  readonly released: readonly number[];
  /** Recipients with new identities, for `storeRecipientIdentities` after the commit. */
  readonly newIdentities: readonly SeenRecipient[];
}

/** A status of a message that we sent. */
export type MessageStatusUpdate = AddressedStatus & MessageRef;

/**
 * Applies statuses to messages of a tenant (`applyToMessages`). Statuses of unknown messages are ignored: another system may send
 * from the same number, or the contact was deleted.
 */
export async function applyStatuses(
  trx: Db,
  tenantId: number,
  updates: readonly AddressedStatus[],
  nowMs: number,
): Promise<AppliedStatuses> {
  const known = await withIds(trx, tenantId, updates);
  const { settled, newIdentities } = await applyToMessages(trx, known, nowMs);
  const released = [...new Set(settled.filter(row => row.is_released).map(row => row.channel_id))];
  return { released, newIdentities: newIdentities.map(({ sender }) => sender) };
}

export interface AppliedToMessages {
  /** Existing messages that were not skipped. */
  readonly found: readonly MessageRef[];
  /** Messages that left the outbox. */
  readonly settled: readonly Settled[];
  /** Recipients with new identities; see `AppliedStatuses`. */
  readonly newIdentities: readonly { readonly tenantId: number; readonly sender: SeenRecipient }[];
}

/**
 * Applies statuses to messages of any tenants, with an event for each step, and removes settled messages from the outbox. Statuses of
 * one message are folded; the number of statements does not depend on the number of updates. A one-time password whose message fails
 * fails with it.
 *
 * A reaction of the business appears on its message once the network accepted it, and is removed if it fails later.
 *
 * Lock order: contacts of reactions, message_states by tenant and message id, then outbox, then otps.
 * @param locked whether to wait for messages that another transaction has locked, or to skip them; updates of reactions require `wait`
 */
export async function applyToMessages(
  trx: Db,
  updates: readonly MessageStatusUpdate[],
  nowMs: number,
  locked: 'wait' | 'skip' = 'wait',
): Promise<AppliedToMessages> {
  const byMessage = groupByMessage(updates);
  if (byMessage.size === 0) return { found: [], settled: [], newIdentities: [] };
  const refs = [...byMessage.values()].flatMap(([first]) => first ?? []);
  const isPersonShown = updates.some(({ person }) => person !== undefined);
  const rows = await (isPersonShown ? lockWithRecipients : lockOutbound)(
    trx,
    refs,
    locked === 'skip' ? 'skip' : 'contacts_first',
  );
  const nowIso = new Date(nowMs).toISOString();
  const changed: LockedMessage[] = [];
  const leaving: MessageRef[] = [];
  const failing: LockedMessage[] = [];
  const events: { tenantId: number; event: NewEvent }[] = [];
  const newIdentities: { tenantId: number; sender: SeenRecipient }[] = [];
  const reactions: { readonly tenantId: number; readonly row: MessageRow; readonly message: MessageRow }[] = [];
  for (const { tenantId, row, recipient } of rows) {
    const ref = { tenantId, messageId: row.id };
    const statuses = (byMessage.get(keyOf(ref)) ?? []).filter(
      ({ channelId }) => channelId === undefined || channelId === row.channel_id,
    );
    const sender = recipient && newIdentityIn(row, recipient, statuses);
    if (sender) newIdentities.push({ tenantId, sender });
    const { message, steps } = foldStatuses(row, statuses, nowIso);
    if (message === row) continue;
    changed.push({ tenantId, row: message, userId: statuses.find(({ person }) => person?.userId)?.person?.userId });
    if (row.status === 'queued' && message.status !== 'queued') leaving.push(ref);
    if (row.status !== 'failed' && message.status === 'failed') failing.push({ tenantId, row: message });
    if (row.type === 'reaction') reactions.push({ tenantId, row, message });
    for (const step of steps) events.push({ tenantId, event: stepEvent(step) });
  }
  if (changed.length > 0) await writeStates(trx, changed);
  const settled = leaving.length > 0 ? await settle(trx, leaving) : [];
  for (const [tenantId, ofTenant] of Map.groupBy(failing, one => one.tenantId))
    await failCodes(
      trx,
      tenantId,
      ofTenant.map(({ row }) => row),
    );
  await appendForTenants(trx, events);
  for (const [tenantId, ofTenant] of Map.groupBy(reactions, one => one.tenantId))
    await keepReactions(trx, tenantId, ofTenant);
  return { found: rows.map(({ tenantId, row }) => ({ tenantId, messageId: row.id })), settled, newIdentities };
}

/** The first status with a new identity of the recipient. Failed messages are ignored: they may not have reached the person. */
function newIdentityIn(
  row: MessageRow,
  known: RecipientIdentities,
  statuses: readonly StatusUpdate[],
): SeenRecipient | undefined {
  const status = statuses.find(
    one => one.person !== undefined && one.status !== 'failed' && hasNewIdentity(known, one.person),
  );
  return (
    status?.person && {
      contactId: row.contact_id,
      channelId: row.channel_id,
      at: new Date(status.at),
      ...status.person,
    }
  );
}

const keyOf = ({ tenantId, messageId }: MessageRef): string => `${tenantId} ${messageId}`;

function groupByMessage(updates: readonly MessageStatusUpdate[]): Map<string, MessageStatusUpdate[]> {
  const byMessage = new Map<string, MessageStatusUpdate[]>();
  for (const update of updates) {
    const list = byMessage.get(keyOf(update));
    if (list) list.push(update);
    else byMessage.set(keyOf(update), [update]);
  }
  return byMessage;
}

const stepEvent = (step: StatusStep): NewEvent => ({ type: `message.${step.status}`, payload: messagePayload(step) });

async function withIds(trx: Db, tenantId: number, updates: readonly AddressedStatus[]): Promise<MessageStatusUpdate[]> {
  const unknown = updates.flatMap(update =>
    update.messageId === undefined && update.wamid !== undefined ? [update.wamid] : [],
  );
  const found = unknown.length > 0 ? await findIdsByWamid(trx, tenantId, unknown) : [];
  const byWamid = Map.groupBy(found, ({ wamid }) => wamid);
  const idOf = ({ wamid, channelId }: AddressedStatus): string | undefined =>
    byWamid.get(wamid ?? '')?.find(row => channelId === undefined || row.channel_id === channelId)?.message_id;
  return updates.flatMap(update => {
    const messageId = update.messageId ?? idOf(update);
    return messageId === undefined ? [] : [{ ...update, tenantId, messageId }];
  });
}
