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
