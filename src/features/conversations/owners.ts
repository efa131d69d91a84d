import type { NewEvent } from '../../core/events.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import { DAY } from '../../platform/clock.ts';
import { listForeignThreads, type Ownership, type PublicOwnership, reclaimThreads, writeOwners } from './owners.sql.ts';
import { getConversations } from './state.sql.ts';

/** The network returns a thread after its owner has been idle this long. */
const IDLE_MS = DAY;

/** A thread that was handed over, or a standby copy of a thread that another app controls. */
export interface Handover {
  readonly channelId: number;
  readonly contactId: number;
  readonly update: Extract<NetworkUpdate, { kind: 'handover' | 'message' | 'echo' }>;
}

/** Stores thread owners. A standby copy proves that another app controls the thread. */
export async function applyHandovers(
  trx: Db,
  tenantId: number,
  handovers: readonly Handover[],
  nowMs: number,
): Promise<void> {
  if (handovers.length === 0) return;
  const changed = await writeOwners(
    trx,
    tenantId,
    handovers.map(({ channelId, contactId, update }): Ownership => {
      const known = update.kind === 'handover' ? update : undefined;
      return {
        channel_id: channelId,
        contact_id: contactId,
        is_ours: known?.isOurs ?? false,
        owner_role: known?.ownerRole ?? null,
        previous_role: known?.previousRole ?? null,
        summary: known?.summary ?? null,
        changed_at: new Date(Math.min(update.at.getTime(), nowMs)).toISOString(),
      };
    }),
  );
  await appendOwners(trx, tenantId, changed);
}

async function appendOwners(trx: Db, tenantId: number, changed: readonly PublicOwnership[]): Promise<void> {
  if (changed.length === 0) return;
  const ids = changed.map(({ id }) => id);
  const states = new Map((await getConversations(trx, tenantId, ids)).map(row => [row.id, row]));
  await append(
    trx,
    tenantId,
    changed.flatMap((owner): NewEvent[] => {
      const state = states.get(owner.id);
      return state ? [{ type: 'conversation.updated', payload: { conversation: { ...state, ...owner } } }] : [];
    }),
  );
}

/** Makes us the owner of threads in which a contact wrote to us. */
export async function returnThreads(
  trx: Db,
  tenantId: number,
  messages: readonly {
    readonly conversation_id: number | null;
    readonly sent_at: string | null;
    readonly created_at: string;
  }[],
): Promise<void> {
  const latest = new Map<number, string>();
  for (const { conversation_id: id, sent_at, created_at } of messages) {
    const at = sent_at ?? created_at;
    if (id !== null && at >= (latest.get(id) ?? '')) latest.set(id, at);
  }
  if (latest.size === 0) return;
  const returned = await reclaimThreads(
    trx,
    tenantId,
    [...latest].map(([conversationId, at]) => ({ conversationId, at })),
  );
  await appendOwners(trx, tenantId, returned);
}

/** A contact on a channel. */
export interface ThreadRef {
  readonly contactId: number;
  readonly channelId: number;
}

export const threadKey = ({ contactId, channelId }: ThreadRef): string => `${contactId} ${channelId}`;

/** Threads controlled by another app, which bots must not answer. @returns keys made by `threadKey` */
export async function foreignThreads(db: Db, tenantId: number, threads: readonly ThreadRef[]): Promise<Set<string>> {
  if (threads.length === 0) return new Set();
  const rows = await listForeignThreads(db, tenantId, threads, IDLE_MS);
  return new Set(rows.map(row => threadKey({ contactId: row.contact_id, channelId: row.channel_id })));
}
