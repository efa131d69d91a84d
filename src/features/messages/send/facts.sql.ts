import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { identitySpellings } from '../../../platform/phone.ts';
import { presentIdentity } from '../../contacts/columns.ts';
import { CONTACT_COLUMNS, type ContactRow } from '../../contacts/contact.ts';
import { type ConsentedCategory, channelUserId, optedOutOf, type Recipient } from './recipient.sql.ts';

/** The stored result of a send under its idempotency key. */
export interface SentResult {
  readonly id: string;
  readonly contact_created?: boolean;
}

/** Everything that is needed to decide on a send. */
export interface SendFacts {
  /** Place of the query in its batch, from 0. */
  readonly place: number;
  readonly channel_id: number | null;
  readonly channel_status: 'active' | 'paused' | 'disconnected' | null;
  readonly channel_status_reason: string | null;
  readonly contact: ContactRow | null;
  /** Business-scoped user id of the contact. */
  readonly contact_user_id: string | null;
  /** The contact has no number, and no user id in the channel's portfolio. */
  readonly is_unreachable: boolean;
  /** Time of the contact's opt-out from the message's category. */
  readonly category_opted_out_at: string | null;
  readonly conversation_id: number | null;
  readonly window_expires_at: string | null;
  readonly conversation_status: string | null;
  /** Time of erasure of a person with this number who had opted out, and of what. */
  readonly erased_at: string | null;
  readonly erased_opt_outs: readonly ('all' | ConsentedCategory)[] | null;
  /** The row of the idempotency key, if there is one. */
  readonly key_operation: string | null;
  readonly key_fingerprint: string | null;
  readonly key_result: SentResult | null;
  readonly key_answer: unknown;
  readonly key_age: number | null;
  /** The database's clock. */
  readonly now_ms: number;
}

export interface SendQuery {
  /** Null: the default channel. */
  readonly channelId: number | null;
  readonly recipient: Recipient;
  /** The stored form of the idempotency key. */
  readonly key: string | null;
  readonly category: ConsentedCategory | null;
  /** Of the recipient's number, for opt-outs before an erasure. */
  readonly digest: Uint8Array | null;
}

const contactJson = sql.raw(
  `json_build_object(${CONTACT_COLUMNS.map(column => `'${column}', c.${column}`).join(', ')})`,
);

/**
 * The lateral joins have one plan each, by key: a hash join would read all contacts of the tenant where statistics are of an empty
 * table.
 */
const readFacts = compileOnce((db, tenantId: number, queries: string) => ({
  compile: () =>
    sql<SendFacts>`
      select i.place, ch.id as channel_id, ch.status as channel_status, ch.status_reason as channel_status_reason,
             case when c.id is not null then ${contactJson} end as contact,
             case when c.id is not null and c.phone is null then ${presentIdentity(tenantId, 'user_id')} end as contact_user_id,
             c.id is not null and c.phone is null and ${channelUserId(tenantId, sql`c.id`, sql`c.phone`)} is null as is_unreachable,
             case when i.category is not null then ${optedOutOf(tenantId, sql`i.category`)} end as category_opted_out_at,
             v.id as conversation_id, v.window_expires_at, v.status as conversation_status,
             x.erased_at, x.opted_out as erased_opt_outs,
             k.operation as key_operation, encode(k.fingerprint, 'hex') as key_fingerprint, k.result as key_result, k.answer as key_answer,
             extract(epoch from now() - k.created_at)::float8 as key_age,
             floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
      from jsonb_to_recordset(${queries}::jsonb)
        as i (place integer, channel_id bigint, contact_id bigint, phone_key text, spellings text[], key text, category text, digest text)
      left join channels ch on ch.tenant_id = ${tenantId} and case when i.channel_id is null then ch.is_default else ch.id = i.channel_id end
      cross join lateral (
        select case when i.contact_id is not null then coalesce((
            select g.contact_id from contact_merges g
            where g.tenant_id = ${tenantId} and g.former_id = i.contact_id and g.undone_at is null), i.contact_id)
          else coalesce(
            (select n.id from contacts n where n.tenant_id = ${tenantId} and n.phone_key = i.phone_key),
            (select h.contact_id from number_holders(${tenantId}, i.spellings) h limit 1)) end as id offset 0
      ) w
      left join lateral (select n.* from contacts n where n.tenant_id = ${tenantId} and n.id = w.id offset 0) c on true
      left join lateral (
        select t.* from conversations t where t.tenant_id = ${tenantId} and t.contact_id = c.id and t.channel_id = ch.id offset 0) v on true
      left join lateral (
        select e.* from erased_identities e
        where e.tenant_id = ${tenantId} and e.digest = decode(i.digest, 'hex') and e.opted_out <> '{}' offset 0) x on true
      left join lateral (
        select y.* from idempotency_keys y
        where y.tenant_id = ${tenantId} and y.key = i.key and y.created_at > now() - interval '24 hours' offset 0) k on true`.compile(
      db,
    ),
}));

/** Reads everything needed to decide on sends, in one round trip. @returns a row for each query, in their order */
export async function readManySendFacts(
  db: Db,
  tenantId: number,
  queries: readonly SendQuery[],
): Promise<readonly SendFacts[]> {
  const requests = queries.map(({ channelId, recipient, key, category, digest }, place) => ({
    place,
    channel_id: channelId,
    ...('contactId' in recipient
      ? { contact_id: recipient.contactId }
      : { phone_key: recipient.phoneKey, spellings: identitySpellings(recipient.phoneKey) }),
    ...(key !== null && { key }),
    ...(category !== null && { category }),
    ...(digest !== null && { digest: Buffer.from(digest).toString('hex') }),
  }));
  const found: SendFacts[] = [];
  for (const row of await readFacts(db, tenantId, JSON.stringify(requests))) found[row.place] = row;
  return found;
}
