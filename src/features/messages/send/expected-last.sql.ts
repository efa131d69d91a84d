import { sql } from 'kysely';
import type { Author } from '../../../core/author.ts';
import { newIdAt, timeOfId } from '../../../core/ids.ts';
import type { Db } from '../../../database/database.ts';
import { DAY } from '../../../platform/clock.ts';

/** Locks a contact as accepting a message to it does. */
export async function lockContactForSend(trx: Db, tenantId: number, id: number): Promise<void> {
  await trx
    .selectFrom('contacts')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .execute();
}

/** The network retries a webhook for this long, so an answer from the phone app arrives within it. */
const LATEST_ARRIVAL_MS = 7 * DAY;

/**
 * The last message to the person that arrived after another one, by another author. Reactions, one-time passwords and cancelled
 * messages are no answers. Ids have the order of arrival, except those of messages sent elsewhere (phone app, another system): their
 * ids have the time of writing, so they are compared by the time at which they were stored.
 * @returns its id
 */
export async function findAnswerAfter(
  db: Db,
  tenantId: number,
  conversationId: number,
  afterId: string,
  { kind, id }: Pick<Author, 'kind' | 'id'>,
): Promise<string | undefined> {
  const from = newIdAt(timeOfId(afterId) - LATEST_ARRIVAL_MS);
  const { rows } = await sql<{ id: string }>`
    select m.id from messages m
    join messages e on e.tenant_id = ${tenantId} and e.id = ${afterId}::uuid
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id and s.message_id > ${from}::uuid
    where m.tenant_id = ${tenantId} and m.conversation_id = ${conversationId} and m.id > ${from}::uuid and m.direction = 'outbound'
      and m.type <> 'reaction' and s.status <> 'cancelled' and coalesce(m.author->>'kind', '') <> 'otp'
      and (m.author->>'kind' is distinct from ${kind}::text or (m.author->>'id')::bigint is distinct from ${id}::bigint)
      and case when coalesce(m.author->>'kind', 'phone_app') = 'phone_app'
                 or e.direction = 'outbound' and coalesce(e.author->>'kind', 'phone_app') = 'phone_app'
               then m.created_at > e.created_at else m.id > e.id end
    order by m.created_at desc, m.id desc limit 1`.execute(db);
  return rows[0]?.id;
}
