import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { type EndedState, MAX_EXPIRY_MINUTES } from '../../otp/otp.ts';

/**
 * Finds messages of one-time passwords whose code verifies nothing any more. A code that is about to become live is not tied to its
 * message yet; one without a row is expired once its message is older than every code, because expired codes are deleted after a day.
 * @returns the state of the code by message id
 */
export async function findEndedCodes(
  db: Db,
  tenantId: number,
  messageIds: readonly string[],
): Promise<Map<string, EndedState>> {
  const { rows } = await sql<{ id: string; state: EndedState }>`
    select m.id, case when o.state is null or o.state = 'live' then 'expired' else o.state end as state from messages m
    left join lateral (
      select c.state, c.expires_at from otps c
      where c.tenant_id = ${tenantId} and c.contact_id = m.contact_id and c.message_id = m.id offset 0) o on true
    where m.tenant_id = ${tenantId} and m.id = any(${messageIds}::uuid[]) and m.author->>'kind' = 'otp'
      and case when o.state is null then m.created_at < clock_timestamp() - ${sql.lit(MAX_EXPIRY_MINUTES)} * interval '1 minute'
        else o.state <> 'live' or o.expires_at <= clock_timestamp() end`.execute(db);
  return new Map(rows.map(row => [row.id, row.state]));
}
