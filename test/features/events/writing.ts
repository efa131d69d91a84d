import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import type { TestGateway } from '../../support/gateway.ts';

const group = (name: string): NewEvent => ({
  type: 'group.created',
  payload: {
    group: { id: 1, name, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' } as never,
  },
});

/** Writes events as features do: each in a transaction of its own kind, some of them slow to commit. */
export async function write({ gateway, tenant }: TestGateway, prefix: string, count: number, each = 1): Promise<void> {
  const { db, signals } = gateway.resources;
  for (let index = 0; index < count; index += 1) {
    await db.transaction(async trx => {
      const events = Array.from({ length: each }, (_, part) => group(`${prefix}${index * each + part}`));
      await append(trx, tenant.id, events);
      // Commits out of order: what began earlier ends later.
      if (index % 7 === 0) await new Promise(resolve => setTimeout(resolve, Math.random() * 15));
    });
    signals.send('events');
  }
}

/** Ids of the events of a type, in the order of the log. */
export async function logged({ database, tenant }: TestGateway, type = 'group.created'): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from events e where tenant_id = $1 and type = $2 order by e.xid, e.seq',
    [tenant.id, type],
  );
  return rows.map(row => row.id);
}
