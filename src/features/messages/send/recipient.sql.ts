import { type RawBuilder, sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { currentConversationId } from '../../conversations/columns.ts';

/** The recipient of a message: a contact by id, or by phone key and number. */
export type Recipient =
  | { readonly contactId: number; readonly phone?: undefined }
  | { readonly phoneKey: string; readonly phone?: string };

/** Message purposes with a separate opt-out. */
export type ConsentedCategory = 'marketing' | 'utility';

/**
 * The business-scoped user id of a contact without a number. It must be of the portfolio of the channel `ch`, or a parent id of the
 * enterprise.
 */
export const channelUserId = (
  tenantId: number,
  contactId: RawBuilder<unknown>,
  phone: RawBuilder<unknown>,
): RawBuilder<string | null> =>
  sql`case when ${phone} is null then (
    select i.value from (
      select i.id, i.kind, i.portfolio, i.value, i.started_at, i.ended_at from contact_identities i
      where i.tenant_id = ${tenantId} and i.contact_id = ${contactId} offset 0) i
    where i.kind = 'user_id' and i.ended_at is null
      and i.portfolio in (coalesce(ch.portfolio_id, 'waba:' || ch.waba_id), 'enterprise')
    order by i.portfolio = 'enterprise', i.started_at desc, i.id desc limit 1) end`;

/** Time at which the contact `c` opted out of a category; null if it did not. A later opt-in to all categories ends it. */
export const optedOutOf = (
  tenantId: number,
  category: ConsentedCategory | RawBuilder<unknown> | null,
): RawBuilder<unknown> =>
  category === null
    ? sql`null::timestamptz`
    : sql`(select case when e.state = 'opted_out' and not exists (
        select from consent_entries a where a.tenant_id = ${tenantId} and a.contact_id = c.id and a.category = 'all' and a.state = 'opted_in'
          and (a.occurred_at, a.id) > (e.occurred_at, e.id)) then e.occurred_at end
      from consent_entries e where e.tenant_id = ${tenantId} and e.contact_id = c.id and e.category = ${category}
      order by e.occurred_at desc, e.id desc limit 1)`;

/** The person and the channel of a conversation; of one that merges have folded into another, of that one. */
const readConversation = compileOnce((db, tenantId: number, id: number) => ({
  compile: () =>
    sql<{ contact_id: number; channel_id: number }>`
      select v.contact_id, v.channel_id from conversations v
      where v.tenant_id = ${tenantId} and v.id = ${currentConversationId(tenantId, id)}`.compile(db),
}));

export const conversationOf = async (
  db: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly contact_id: number; readonly channel_id: number } | undefined> =>
  (await readConversation(db, tenantId, id))[0];
