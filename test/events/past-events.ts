import { expect } from 'vitest';
import { eventually, type TestGateway } from '../support/gateway.ts';

/** Waits until every event written so far is below the horizon: a transaction of the gateway may still hold it back. */
export const pastEvents = ({ gateway, database }: TestGateway): Promise<void> =>
  eventually(async () => {
    const { position } = await gateway.resources.horizon.advance();
    const [row] = await database.query<{ later: number }>(
      'select count(*)::int as later from events where (xid, seq) >= ($1::xid8, $2::bigint)',
      [String(position.xid), position.seq],
    );
    expect(row?.later).toBe(0);
  });

/** Waits until a reader of the log is behind all events of a tenant. */
export const readBy = (reader: string, { database }: TestGateway, tenantId: number): Promise<void> =>
  eventually(async () => {
    const unread = await database.query(
      'select from events e join log_readers r on r.name = $1 and (e.xid, e.seq) > (r.xid, r.seq) where e.tenant_id = $2',
      [reader, tenantId],
    );
    expect(unread).toEqual([]);
  });
