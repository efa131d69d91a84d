import type { Db } from '../../../database/database.ts';
import { transactionTime } from '../../../database/expressions.ts';
import type { Settings } from './settings.ts';

export const SETTINGS = [
  'window_policy',
  'default_country',
  'time_zone',
  'opt_out_words',
  'opt_in_words',
  'opt_words_by_language',
  'default_source_id',
  'default_status_id',
  'default_assignee_id',
] as const satisfies readonly (keyof Settings)[];

/** Locks a tenant's settings until the transaction ends: two changes at once would not see each other's words. */
export const lockSettings = (trx: Db, tenantId: number): Promise<Settings> =>
  trx
    .selectFrom('tenants')
    .select(SETTINGS)
    .$narrowType<Pick<Settings, 'window_policy' | 'opt_words_by_language'>>()
    .where('tenant_id', '=', tenantId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();

/** Sets the settings that are given. */
export async function updateSettings(
  trx: Db,
  tenantId: number,
  { opt_out_words: optOut, opt_in_words: optIn, opt_words_by_language: byLanguage, ...settings }: Partial<Settings>,
): Promise<void> {
  await trx
    .updateTable('tenants')
    .set({
      ...settings,
      opt_out_words: optOut && [...optOut],
      opt_in_words: optIn && [...optIn],
      opt_words_by_language: byLanguage && JSON.stringify(byLanguage),
      updated_at: transactionTime,
    })
    .where('tenant_id', '=', tenantId)
    .execute();
}
