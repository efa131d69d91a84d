import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { PublicChannel } from '../channels/channel.ts';
import type { TemplateFields } from './changes.sql.ts';
import { TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

/** JSON columns have the type `unknown` in the generated tables. */
type Json = Pick<TemplateRow, 'components'>;

export const getTemplates = (db: Db, tenantId: number, ids: readonly number[]): Promise<TemplateRow[]> =>
  db
    .selectFrom('templates')
    .select(TEMPLATE_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .$narrowType<Json>()
    .execute();

export const findByNetworkId = (db: Db, tenantId: number, networkId: string): Promise<TemplateRow | undefined> =>
  db
    .selectFrom('templates')
    .select(TEMPLATE_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('network_id', '=', networkId)
    .limit(1)
    .$narrowType<Json>()
    .executeTakeFirst();

/**
 * Inserts a template that was just submitted. It replaces a row of the same name and language that has another network id.
 * @returns undefined if the template is known already
 */
export const insertTemplate = (
  trx: Db,
  tenantId: number,
  wabaId: string,
  { components, ...fields }: TemplateFields,
): Promise<TemplateRow | undefined> =>
  trx
    .insertInto('templates')
    .values({ tenant_id: tenantId, waba_id: wabaId, ...fields, components: JSON.stringify(components) })
    .onConflict(oc =>
      oc
        .columns(['tenant_id', 'waba_id', 'name', 'language'])
        .doUpdateSet(({ fn, ref }) => ({
          network_id: ref('excluded.network_id'),
          category: ref('excluded.category'),
          status: ref('excluded.status'),
          status_reason: ref('excluded.status_reason'),
          parameter_format: ref('excluded.parameter_format'),
          quality: ref('excluded.quality'),
          components: ref('excluded.components'),
          created_at: fn<string>('now'),
          updated_at: fn<string>('now'),
        }))
        .whereRef('templates.tenant_id', '=', 'excluded.tenant_id')
        .whereRef('templates.network_id', '<>', 'excluded.network_id'),
    )
    .returning(TEMPLATE_COLUMNS)
    .$narrowType<Json>()
    .executeTakeFirst();

/** A business account, and the channel whose credentials are used for it. */
export interface Account {
  readonly waba_id: string;
  readonly channel_id: number;
}

export type AccountState = Account & Pick<PublicChannel, 'status' | 'status_reason'>;

/** The business account of one channel, of the default channel, or all accounts, each with an active channel if it has one. */
export const listAccounts = (db: Db, tenantId: number, which: number | 'default' | 'all'): Promise<AccountState[]> =>
  db
    .selectFrom('channels')
    .distinctOn('waba_id')
    .select(['waba_id', 'id as channel_id', 'status', 'status_reason'])
    .where('tenant_id', '=', tenantId)
    .$if(which === 'default', query => query.where('is_default', '=', eb => eb.lit(true)))
    .$if(typeof which === 'number', query => query.where('id', '=', Number(which)))
    .orderBy('waba_id')
    .orderBy(eb => eb('status', '<>', sql.lit('active')))
    .orderBy('id')
    .$narrowType<Pick<AccountState, 'status'>>()
    .execute();

/** A business account, with an active channel. */
export const findActiveAccount = (db: Db, tenantId: number, wabaId: string): Promise<Account | undefined> =>
  db
    .selectFrom('channels')
    .select(['waba_id', 'id as channel_id'])
    .where('tenant_id', '=', tenantId)
    .where('waba_id', '=', wabaId)
    .where('status', '=', sql.lit('active'))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
