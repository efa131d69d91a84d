import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { bigints, clockTimeIn, timestamps, unnest } from '../../database/expressions.ts';

/** The app that controls a thread since `changed_at`. */
export interface Ownership {
  readonly channel_id: number;
  readonly contact_id: number;
  readonly is_ours: boolean;
  readonly owner_role: string | null;
  readonly previous_role: string | null;
  readonly summary: string | null;
  readonly changed_at: string;
}

/** Owner of a thread, as in events. Without `summary`, which is personal data. */
export interface PublicOwnership {
  readonly id: number;
  readonly contact_id: number;
  readonly channel_id: number;
  readonly is_ours: boolean;
  readonly owner_role: string | null;
  readonly previous_role: string | null;
  readonly owned_since: string;
}

/**
 * Stores thread owners. The latest update wins, whatever the order of arrival; fields it leaves out keep their value.
 * @returns the conversations whose owner changed
 */
export async function writeOwners(
  trx: Db,
  tenantId: number,
  owners: readonly Ownership[],
): Promise<readonly PublicOwnership[]> {
  const { rows } = await sql<PublicOwnership>`
    with w as (
      insert into thread_owners as o (tenant_id, conversation_id, is_ours, owner_role, previous_role, summary, changed_at)
      select distinct on (v.id) ${tenantId}::bigint, v.id, r.is_ours, r.owner_role, r.previous_role, r.summary, r.changed_at
      from jsonb_to_recordset(${JSON.stringify(owners.map((owner, position) => ({ ...owner, position })))}::jsonb) as r (position integer,
        channel_id bigint, contact_id bigint, is_ours boolean, owner_role text, previous_role text, summary text, changed_at timestamptz)
      join conversations v on v.tenant_id = ${tenantId} and v.contact_id = r.contact_id and v.channel_id = r.channel_id
      order by v.id, r.changed_at desc, r.position desc -- the network's times have whole seconds
      on conflict (tenant_id, conversation_id) do update set is_ours = excluded.is_ours, changed_at = excluded.changed_at,
        owner_role = coalesce(excluded.owner_role, case when excluded.is_ours = o.is_ours then o.owner_role end),
        previous_role = coalesce(excluded.previous_role, o.previous_role), summary = coalesce(excluded.summary, o.summary)
        where excluded.changed_at >= o.changed_at
      returning o.*
    )
    select v.id, v.contact_id, v.channel_id, w.is_ours, w.owner_role, w.previous_role, w.changed_at as owned_since
    from w join conversations v on v.tenant_id = ${tenantId} and v.id = w.conversation_id
    left join thread_owners b on b.tenant_id = ${tenantId} and b.conversation_id = w.conversation_id -- as it was before this statement
    where b.conversation_id is null or (b.is_ours, b.owner_role) is distinct from (w.is_ours, w.owner_role)
    order by v.id`.execute(trx);
  return rows;
}

/**
 * Makes us the owner of threads in which a contact wrote to us.
 * @param written latest message of each conversation
 * @returns the conversations that came back
 */
export async function reclaimThreads(
  trx: Db,
  tenantId: number,
  written: readonly { readonly conversationId: number; readonly at: string }[],
): Promise<readonly PublicOwnership[]> {
  return trx
    .updateTable('thread_owners as o')
    .from(
      unnest('w', {
        conversation_id: bigints(written.map(({ conversationId }) => conversationId)),
        at: timestamps(written.map(({ at }) => at)),
      }),
    )
    .innerJoin('conversations as v', join =>
      join.on('v.tenant_id', '=', tenantId).onRef('v.id', '=', 'w.conversation_id'),
    )
    .set(eb => ({ is_ours: true, owner_role: null, changed_at: eb.ref('w.at') }))
    .where('o.tenant_id', '=', tenantId)
    .whereRef('o.conversation_id', '=', 'w.conversation_id')
    .where(eb => eb.not('o.is_ours'))
    .whereRef('o.changed_at', '<=', 'w.at')
    .returning(['v.id', 'v.contact_id', 'v.channel_id', 'o.is_ours', 'o.owner_role', 'o.previous_role'])
    .returning('o.changed_at as owned_since')
    .execute();
}

/** Threads controlled by another app, without those idle for longer than `idleMs`. */
export const listForeignThreads = (
  db: Db,
  tenantId: number,
  threads: readonly { readonly contactId: number; readonly channelId: number }[],
  idleMs: number,
): Promise<{ readonly contact_id: number; readonly channel_id: number }[]> =>
  db
    .selectFrom(
      unnest('t', {
        contact_id: bigints(threads.map(({ contactId }) => contactId)),
        channel_id: bigints(threads.map(({ channelId }) => channelId)),
      }),
    )
    .innerJoin('conversations as v', join =>
      join
        .on('v.tenant_id', '=', tenantId)
        .onRef('v.contact_id', '=', 't.contact_id')
        .onRef('v.channel_id', '=', 't.channel_id'),
    )
    .innerJoin('thread_owners as o', join =>
      join
        .on('o.tenant_id', '=', tenantId)
        .onRef('o.conversation_id', '=', 'v.id')
        .on(eb => eb.not('o.is_ours')),
    )
    .select(['v.contact_id', 'v.channel_id'])
    .where('o.changed_at', '>', clockTimeIn(-idleMs))
    .execute();
