import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** A price of the message with this id or network id. */
export interface PriceRow {
  readonly message_id: string | null;
  readonly wamid: string;
  readonly channel_id: number;
  readonly category: string | null;
  readonly type: string | null;
  readonly model: string | null;
  readonly is_billable: boolean | null;
}

/** Stores prices of the tenant's messages. Later values overwrite earlier ones; missing values do not. */
export async function writePrices(
  trx: Db,
  tenantId: number,
  prices: readonly PriceRow[],
  nowIso: string,
): Promise<void> {
  const rows = prices.map((price, place) => ({ place, ...price }));
  await sql`
    insert into message_pricing as p (tenant_id, message_id, category, type, model, is_billable, updated_at)
    select distinct on (s.message_id) ${tenantId}::bigint, s.message_id, r.category, r.type, r.model, r.is_billable, ${nowIso}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (place integer, message_id uuid, wamid text, channel_id bigint,
      category text, type text, model text, is_billable boolean)
    left join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = r.channel_id and w.wamid = r.wamid
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = coalesce(w.message_id, r.message_id)
    order by s.message_id, r.place desc
    on conflict (tenant_id, message_id) do update set category = coalesce(excluded.category, p.category),
      type = coalesce(excluded.type, p.type), model = coalesce(excluded.model, p.model),
      is_billable = coalesce(excluded.is_billable, p.is_billable), updated_at = excluded.updated_at`.execute(trx);
}
