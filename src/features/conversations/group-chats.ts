import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import {
  ensureGroupChats,
  type GroupPatch,
  getGroupChats,
  groupKey,
  insertMemberships,
  type Membership,
  patchGroupChats,
} from './group-chats.sql.ts';

/** A webhook update of a group chat, with the contacts of the participants it names. */
export interface GroupUpdate {
  readonly channelId: number;
  readonly update: Extract<NetworkUpdate, { kind: 'group' }>;
  readonly addedIds: readonly number[];
  readonly removedIds: readonly number[];
}

/** The sender of a group message, recorded as a participant. */
export interface GroupMessage {
  readonly groupChatId: number;
  readonly contactId: number;
  readonly at: Date;
}

/**
 * Finds or creates the group chats of messages.
 * @returns their ids in the order of `messages`; undefined for a message outside a group
 */
export async function ensureGroupChatsOf(
  trx: Db,
  tenantId: number,
  messages: readonly { readonly channelId: number; readonly networkId: string | undefined }[],
): Promise<(number | undefined)[]> {
  const named = messages.flatMap(({ channelId, networkId }) =>
    networkId === undefined ? [] : [{ channelId, networkId }],
  );
  if (named.length === 0) return messages.map(() => undefined);
  const ids = await ensureGroupChats(trx, tenantId, named);
  return messages.map(({ channelId, networkId }) =>
    networkId === undefined ? undefined : ids.get(groupKey({ channelId, networkId })),
  );
}

/** Stores subject, settings and participants of group chats. */
export async function applyGroups(
  trx: Db,
  tenantId: number,
  updates: readonly GroupUpdate[],
  nowMs: number,
): Promise<void> {
  if (updates.length === 0) return;
  const named = updates.map(({ channelId, update }) => ({ channelId, networkId: update.groupId }));
  const ids = await ensureGroupChats(trx, tenantId, named);
  const addressed = updates.flatMap(entry => {
    const id = ids.get(groupKey({ channelId: entry.channelId, networkId: entry.update.groupId }));
    return id === undefined ? [] : [{ ...entry, id, reportedAt: reportedAt(entry.update.at, nowMs) }];
  });
  const patches = addressed
    .map(({ id, update, reportedAt: told_at }) => patchOf(id, update, told_at))
    .filter(hasChanges);
  await patchGroupChats(
    trx,
    tenantId,
    patches.sort((a, b) => a.id - b.id || a.told_at.localeCompare(b.told_at)),
  );
  const memberships = addressed.flatMap(({ id, addedIds, removedIds, reportedAt: told_at }): Membership[] => [
    ...addedIds.map(contact_id => ({ group_chat_id: id, contact_id, is_member: true, told_at })),
    ...removedIds.map(contact_id => ({ group_chat_id: id, contact_id, is_member: false, told_at })),
  ]);
  if (memberships.length > 0) await insertMemberships(trx, tenantId, memberships);
  const byId = Map.groupBy(addressed, ({ id }) => id);
  const chats = await getGroupChats(trx, tenantId, [...byId.keys()]);
  await append(
    trx,
    tenantId,
    chats.map(group_chat => {
      const entries = byId.get(group_chat.id) ?? [];
      return {
        type: 'group_chat.updated',
        payload: {
          group_chat,
          added_contact_ids: entries.flatMap(({ addedIds }) => addedIds),
          removed_contact_ids: entries.flatMap(({ removedIds }) => removedIds),
        },
      };
    }),
  );
}

/** Records senders as participants, because the network only reports people who join after the number is connected. */
export async function noteParticipants(
  trx: Db,
  tenantId: number,
  messages: readonly GroupMessage[],
  nowMs: number,
): Promise<void> {
  if (messages.length === 0) return;
  await insertMemberships(
    trx,
    tenantId,
    messages.map(({ groupChatId, contactId, at }) => ({
      group_chat_id: groupChatId,
      contact_id: contactId,
      is_member: true,
      told_at: reportedAt(at, nowMs),
    })),
  );
}

/** Times in the future count as now. */
const reportedAt = (at: Date, nowMs: number): string => new Date(Math.min(at.getTime(), nowMs)).toISOString();

const STATUS: Readonly<Record<string, string>> = {
  group_create: 'active',
  group_delete: 'deleted',
  group_suspend: 'suspended',
  group_suspend_cleared: 'active',
};

const patchOf = (id: number, update: GroupUpdate['update'], told_at: string): GroupPatch => ({
  id,
  told_at,
  subject: update.subject ?? null,
  description: update.description ?? null,
  invite_link: update.inviteLink ?? null,
  join_approval_mode: update.joinApprovalMode ?? null,
  status: STATUS[update.event] ?? null,
});

const hasChanges = ({ id: _id, told_at: _at, ...settings }: GroupPatch): boolean =>
  Object.values(settings).some(value => value !== null);
