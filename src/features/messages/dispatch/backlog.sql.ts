import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Backlog of a channel. */
export interface ChannelBacklog {
  readonly channel_id: number;
  readonly count: number;
  /** When the oldest of them was accepted. */
  readonly oldest_at: string;
}

/** The backlogs of channels that have one, with scheduled messages, unlike `outboxBacklog`. Message ids are UUIDv7, which begin with milliseconds since 1970. */
export async function readBacklogs(db: Db, tenantId: number, channelIds: readonly number[]): Promise<ChannelBacklog[]> {
  const { rows } = await sql<ChannelBacklog>`
    select channel_id, count(*) as count,
      to_timestamp((('x' || substr(replace(min(message_id::text), '-', ''), 1, 12))::bit(48)::bigint) / 1000.0) as oldest_at
    from outbox where tenant_id = ${tenantId} and channel_id = any(${channelIds}::bigint[]) group by channel_id`.execute(
    db,
  );
  return rows;
}
