import { sql } from 'kysely';
import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';

/** Locks a contact as accepting a message to it does. */
export async function lockContact(trx: Db, tenantId: number, id: number): Promise<void> {
  await trx
    .selectFrom('contacts')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .execute();
}

/**
 * The last message to the person after an id, by another author. Reactions, one-time passwords and cancelled messages are no answers.
 * @returns its id
 */
export async function findAnswerAfter(
  db: Db,
  tenantId: number,
  conversationId: number,
  afterId: string,
  { kind, id }: Pick<Author, 'kind' | 'id'>,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select m.id from messages m
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id and s.message_id > ${afterId}::uuid
    where m.tenant_id = ${tenantId} and m.conversation_id = ${conversationId} and m.id > ${afterId}::uuid and m.direction = 'outbound'
      and m.type <> 'reaction' and s.status <> 'cancelled' and coalesce(m.author->>'kind', '') <> 'otp'
      and (m.author->>'kind' is distinct from ${kind}::text or (m.author->>'id')::bigint is distinct from ${id}::bigint)
    order by m.id desc limit 1`.execute(db);
  return rows[0]?.id;
}
