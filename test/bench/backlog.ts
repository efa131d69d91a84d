import { sql } from 'kysely';
import { newId } from '../../src/core/ids.ts';
import { createDatabase } from '../../src/database/database.ts';
import { PRIORITY, type Priority } from '../../src/features/messages/dispatch/lane.ts';
import { insertOutbound, type NewSend } from '../../src/features/messages/send/accept.sql.ts';
import { createLog } from '../../src/platform/log.ts';
import type { FilledTenant } from './fill.ts';
import type { Fixture } from './fixture.ts';

/** Messages of one statement. */
const BATCH = 500;

/** Everybody may be messaged, also those that were filled as opted out. */
export const optIn = ({ pool }: Fixture) =>
  pool.query('update contacts set opted_out_at = null where opted_out_at is not null');

/** Accepts a text to each of the tenant's contacts from `from` to `to`, in the statement of bulk sends. */
export async function addBacklog(
  fixture: Fixture,
  tenant: FilledTenant,
  from: number,
  to: number,
  priority: Priority = PRIORITY.single,
): Promise<void> {
  const db = createDatabase({
    url: fixture.url,
    poolSize: 1,
    readers: 1,
    log: createLog('silent'),
    statementTimeoutMs: 120_000,
  });
  try {
    const month = await sql<{
      month: string;
    }>`select to_char(date_trunc('month', now()), 'YYYY-MM-DD') as month`.execute(db.write);
    for (let first = from; first < to; first += BATCH) {
      const sends = Array.from({ length: Math.min(BATCH, to - first) }, (_, index) =>
        textTo(tenant, first + index, priority),
      );
      const accepted = await insertOutbound(db.write, tenant.id, month.rows[0]?.month ?? '', sends, 'wait');
      if (accepted.size !== sends.length)
        throw new Error(`Of ${sends.length} messages ${accepted.size} were accepted.`);
    }
  } finally {
    await db.close();
  }
}

function textTo(tenant: FilledTenant, person: number, priority: Priority): NewSend {
  const text = 'Your order is on its way.';
  return {
    message: {
      id: null,
      channelId: tenant.channelId,
      type: 'text',
      priority,
      templateId: null,
      body: text,
      content: { preview_url: false },
      sealed: null,
      replyToWamid: null,
      author: { kind: 'system', id: null, name: 'bench' },
      echoId: null,
      retryOf: null,
      scheduledAt: null,
      isWindowRequired: false,
      createdAt: new Date().toISOString(),
      isAnswer: true,
      conversationStatus: 'closed',
      eventId: newId(),
      conversationEventId: newId(),
      idempotency: undefined,
    },
    to: {
      contactId: tenant.firstContactId + person,
      conversationId: person < tenant.conversations ? tenant.firstConversationId + person : null,
      takesOver: false,
      mayBeOptedOut: false,
    },
  };
}
