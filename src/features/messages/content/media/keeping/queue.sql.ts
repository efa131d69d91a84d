import { sql } from 'kysely';
import type { Db } from '../../../../../database/database.ts';
import { clockTime, clockTimeIn } from '../../../../../database/expressions.ts';
import { type Backlog, inAccount } from '../../../../../lanes/store/backlog.sql.ts';

/** A file to be fetched from the network. */
export interface NewFile {
  /** Id of the message or of the upload. */
  readonly id: string;
  readonly channelId: number;
  readonly networkMediaId: string;
  readonly mimeType: string | null;
  /** Hex; what the network says. */
  readonly sha256: string | null;
  /** Time until the network deletes it. */
  readonly livesForMs: number;
}

/** Queues files; those that are known are skipped. */
export async function queueFiles(trx: Db, tenantId: number, files: readonly NewFile[]): Promise<void> {
  if (files.length === 0) return;
  const rows = files.map(file => ({
    id: file.id,
    channel_id: file.channelId,
    network_media_id: file.networkMediaId,
    mime_type: file.mimeType,
    sha256: file.sha256,
    lives_ms: file.livesForMs,
  }));
  await sql`
    insert into media_files (tenant_id, id, channel_id, network_media_id, mime_type, expected_sha256, due_at, expires_at)
    select ${tenantId}::bigint, r.id, r.channel_id, r.network_media_id, r.mime_type, decode(r.sha256, 'hex'), ${clockTime},
           clock_timestamp() + r.lives_ms * interval '1 ms'
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, channel_id bigint, network_media_id text, mime_type text,
      sha256 text, lives_ms float8)
    order by r.id on conflict do nothing`.execute(trx);
}

export interface ClaimedFile {
  readonly id: string;
  readonly network_media_id: string;
  readonly expected_sha256: Buffer | null;
  readonly attempts: number;
  /** Until the network deletes it, by the database's clock. */
  readonly lives_for_ms: number;
}

/** Claims the oldest due files of a channel. Each claim counts as an attempt. */
export async function claimFiles(
  db: Db,
  tenantId: number,
  channelId: number,
  claim: string,
  claimMs: number,
  limit: number,
): Promise<ClaimedFile[]> {
  const { rows } = await sql<ClaimedFile>`
    update media_files f set claim = ${claim}::uuid, due_at = clock_timestamp() + ${claimMs}::float8 * interval '1 ms', attempts = f.attempts + 1
    where f.tenant_id = ${tenantId} and f.id = any(array(
      select w.id from media_files w
      where w.tenant_id = ${tenantId} and w.channel_id = ${channelId} and w.due_at <= clock_timestamp()
      order by w.due_at limit ${limit} for update skip locked))
    returning f.id, f.network_media_id, f.expected_sha256, f.attempts,
      extract(epoch from f.expires_at - clock_timestamp())::float8 * 1000 as lives_for_ms`.execute(db);
  return rows;
}

/** Makes claimed files due again: a lane has one holder, so at the start of its turn no claim has a worker. */
export async function releaseClaims(db: Db, tenantId: number, channelId: number): Promise<void> {
  await db
    .updateTable('media_files')
    .set({ claim: null, due_at: clockTime })
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', channelId)
    .where('claim', 'is not', null)
    .execute();
}

/** Makes a claimed file due again after a pause. */
export async function postponeFile(
  db: Db,
  tenantId: number,
  id: string,
  claim: string,
  pauseMs: number,
  reason: string,
): Promise<void> {
  await db
    .updateTable('media_files')
    .set({ claim: null, due_at: clockTimeIn(pauseMs), reason })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .execute();
}

/** Gives a claimed file up. */
export async function loseFile(db: Db, tenantId: number, id: string, claim: string, reason: string): Promise<void> {
  await db
    .updateTable('media_files')
    .set({ state: 'lost', claim: null, due_at: null, reason })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .execute();
}

/** Gives up files that the network has deleted while they waited, at most `limit`. @returns their number */
export async function loseExpired(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    update media_files f set state = 'lost', claim = null, due_at = null, reason = coalesce(f.reason, 'The network has deleted the file.')
    from (select tenant_id, id from media_files where state = 'waiting' and expires_at < clock_timestamp()
          order by expires_at limit ${limit} for update skip locked) w
    where f.tenant_id = w.tenant_id and f.id = w.id returning f.id`.execute(db);
  return rows.length;
}

/** Channels with due files, and with claims: those of a lane that nobody holds are of a killed process. See `Queue.dueLanes`. */
export const dueMediaLanes = sql`
  select c.tenant_id, c.tenant_id || ':' || c.id as key from channels c
  where exists (
    select from media_files f
    where f.tenant_id = c.tenant_id and f.channel_id = c.id and f.due_at <= clock_timestamp())
  or exists (
    select from media_files f where f.tenant_id = c.tenant_id and f.channel_id = c.id and f.claim is not null)`;

/** The backlog of each lane; see `listLanes`. */
export const mediaBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id || ':' || channel_id as key, count(*) as count, min(due_at) as oldest_at
  from media_files where ${inAccount(tenantId)} and due_at is not null group by tenant_id, channel_id`;
