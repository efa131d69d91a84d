import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf, clockTime } from '../../../database/expressions.ts';
import { phoneKey } from '../../../platform/phone.ts';
import type { FullContact } from './merge.sql.ts';
import type { Filled } from './store.ts';

/** The number of a contact, as stored in its columns. */
export type ContactNumber = Pick<FullContact, 'phone' | 'phone_key'>;

/** A current identity before a merge. */
interface IdentityBefore {
  readonly id: number;
  readonly contact_id: number;
  /** For a user id: the number that the network last reported with it. */
  readonly wa_id: string | null;
}

/** Identities of both contacts, and the survivor's number, before a merge. Recognition changes them together with the merge. */
export interface IdentitiesBefore extends ContactNumber {
  readonly identities: readonly IdentityBefore[];
}

const RELATION = 'identities_before';

/** Records the identities of merging contacts, so that undoing the merge restores them. Call it before rows are moved. */
export async function recordIdentities(
  trx: Db,
  tenantId: number,
  { mergeId, survivorId, formerId }: { mergeId: number; survivorId: number; formerId: number },
  { phone, phone_key }: ContactNumber,
): Promise<void> {
  await sql`
    insert into contact_merge_rows (tenant_id, merge_id, relation, former, keys)
    select ${tenantId}::bigint, ${mergeId}::bigint, ${RELATION}, jsonb_build_object('phone', ${phone}::text, 'phone_key', ${phone_key}::text,
      'identities', coalesce(jsonb_agg(jsonb_build_object('id', i.id, 'contact_id', i.contact_id, 'wa_id', i.wa_id) order by i.id), '[]')), '{}'
    from contact_identities i
    where i.tenant_id = ${tenantId} and i.contact_id = any(${[survivorId, formerId]}::bigint[]) and i.kind in ('wa_id', 'user_id')
      and i.ended_at is null`.execute(trx);
}

/** @returns undefined for merges from before identities were recorded */
export async function findIdentitiesBefore(
  trx: Db,
  tenantId: number,
  mergeId: number,
): Promise<IdentitiesBefore | undefined> {
  const row = await trx
    .selectFrom('contact_merge_rows')
    .select('former')
    .where('tenant_id', '=', tenantId)
    .where('merge_id', '=', mergeId)
    .where('relation', '=', RELATION)
    .executeTakeFirst();
  return (row?.former as unknown as IdentitiesBefore | undefined) ?? undefined;
}

/**
 * Separates the identities of two contacts after their rows were moved back. Identities that the network reported since the merge
 * with the restored contact's number move to the restored contact. Each contact gets back the identities that ended with the merge,
 * except a number that another contact has now.
 * @param number of the restored contact
 */
export async function separateIdentities(
  trx: Db,
  tenantId: number,
  { survivorId, formerId }: { readonly survivorId: number; readonly formerId: number },
  number: ContactNumber,
  before: IdentitiesBefore | undefined,
): Promise<void> {
  const own = new Set(before?.identities.filter(row => row.contact_id === survivorId).map(({ id }) => id));
  const rows = await trx
    .selectFrom('contact_identities')
    .select(['id', 'kind', 'value', 'wa_id'])
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', survivorId)
    .where('kind', 'in', ['wa_id', 'user_id'])
    .where('ended_at', 'is', null)
    .orderBy('id')
    .execute();
  const returning = rows.filter(({ id, kind, value, wa_id }) => {
    const shown = kind === 'wa_id' ? value : wa_id;
    return shown !== null && number.phone_key !== null && phoneKey(shown) === number.phone_key && !own.has(id);
  });
  if (returning.length > 0)
    await trx
      .updateTable('contact_identities')
      .set({ contact_id: formerId })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', anyOf(returning.map(({ id }) => id)))
      .execute();
  await sql`
    update contact_identities i set ended_at = null, wa_id = n.wa_id
    from jsonb_to_recordset(${JSON.stringify(before?.identities ?? [])}::jsonb) as n (id bigint, contact_id bigint, wa_id text)
    where i.tenant_id = ${tenantId} and i.id = n.id and i.contact_id = n.contact_id
      and (i.ended_at is not null or i.wa_id is distinct from n.wa_id)
      -- An identity that the network has reported since takes precedence.
      and not exists (
        select from contact_identities o
        where o.tenant_id = ${tenantId} and o.kind = i.kind and o.portfolio = i.portfolio and o.ended_at is null and o.id <> i.id
          and i.ended_at is not null and (o.contact_id = i.contact_id or o.value = i.value))`.execute(trx);
}

/** Ends a restored number that another contact has now. Otherwise it would return to this contact once the other one releases it. */
export async function endPhone(trx: Db, tenantId: number, contactId: number, phone: string): Promise<void> {
  await trx
    .updateTable('contact_identities')
    .set({ ended_at: clockTime })
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', contactId)
    .where('kind', '=', 'phone')
    .where('value', '=', phone)
    .where('ended_at', 'is', null)
    .execute();
}

/** Returns the number that the survivor gets back; empty if it has one, had none, or another contact has it now. */
export async function numberBefore(
  trx: Db,
  tenantId: number,
  survivorId: number,
  before: IdentitiesBefore | undefined,
): Promise<Filled> {
  if (!before || before.phone_key === null) return {};
  const { rows } = await sql<{ is_free: boolean }>`
    select c.phone_key is null and not exists (
      select from contacts o where o.tenant_id = ${tenantId} and o.phone_key = ${before.phone_key}) as is_free
    from contacts c where c.tenant_id = ${tenantId} and c.id = ${survivorId}`.execute(trx);
  return rows[0]?.is_free ? { phone: before.phone, phone_key: before.phone_key } : {};
}
