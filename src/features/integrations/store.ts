import { sql } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Db } from '../../database/database.ts';
import { anyOf, clockTime, clockTimeIn, crossTenant, transactionTime } from '../../database/expressions.ts';
import type { MappedTemplate } from './mappings/mapping.ts';
import type { Kind, Paths } from './mappings/paths.ts';

/** Credentials and state of an integration, for authenticating its requests. */
export interface IntegrationSecrets {
  readonly tenant_id: number;
  readonly id: number;
  readonly kind: Kind;
  readonly is_enabled: boolean;
  /** Whether the tenant is active. */
  readonly is_active: boolean;
  readonly secret_sealed: Buffer | null;
  /** The previous secret, while it is valid. */
  readonly previous_secret_sealed: Buffer | null;
}

const selectByKeys = compileOnce((db, keys: readonly string[]) =>
  db
    .selectFrom('integrations as i')
    .innerJoin('tenants as n', 'n.tenant_id', 'i.tenant_id')
    .select(eb => [
      'i.key',
      'i.tenant_id',
      'i.id',
      'i.kind',
      'i.is_enabled',
      eb('n.status', '=', sql.lit('active')).$castTo<boolean>().as('is_active'),
      'i.secret_sealed',
      eb
        .case()
        .when('i.previous_secret_until', '>', clockTime)
        .then(eb.ref('i.previous_secret_sealed'))
        .end()
        .as('previous_secret_sealed'),
    ])
    .where('i.key', '=', anyOf(keys))
    .$narrowType<{ kind: Kind }>()
    .modifyEnd(crossTenant('the key identifies the integration and its tenant')),
);

/** @returns in the order of the keys */
export async function findByKeys(db: Db, keys: readonly string[]): Promise<(IntegrationSecrets | undefined)[]> {
  const rows = await selectByKeys(db, keys);
  const byKey = new Map(rows.map(row => [row.key, row]));
  return keys.map(key => byKey.get(key));
}

export interface IntegrationFields {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly defaultCountry: string | null;
  readonly topicPath: string;
}

/** Counts the integrations. Locks the tenant's row, so that no other one is created until the transaction ends. */
export async function countIntegrations(trx: Db, tenantId: number): Promise<number> {
  await trx.selectFrom('tenants').select('tenant_id').where('tenant_id', '=', tenantId).forNoKeyUpdate().execute();
  const { count } = await trx
    .selectFrom('integrations')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return count;
}

/** @returns the id; undefined if the name is taken */
export async function insertIntegration(
  trx: Db,
  tenantId: number,
  values: IntegrationFields & { readonly kind: Kind; readonly key: string; readonly secretSealed: Buffer | null },
): Promise<number | undefined> {
  const row = await trx
    .insertInto('integrations')
    .values({
      tenant_id: tenantId,
      kind: values.kind,
      name: values.name,
      key: values.key,
      secret_sealed: values.secretSealed,
      is_enabled: values.isEnabled,
      default_country: values.defaultCountry,
      topic_path: values.topicPath,
    })
    .onConflict(conflict => conflict.expression(sql`tenant_id, lower(name)`).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Updates the given fields. @returns whether the integration exists @throws a unique violation of integrations_name_key */
export async function updateIntegration(
  trx: Db,
  tenantId: number,
  id: number,
  { name, isEnabled, defaultCountry, topicPath }: Partial<IntegrationFields>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('integrations')
    .set({
      name,
      is_enabled: isEnabled,
      default_country: defaultCountry,
      topic_path: topicPath,
      updated_at: transactionTime,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Sets a new secret; the previous one stays valid for `overlapMs` (0: not at all). @returns whether the integration exists */
export async function replaceSecret(
  trx: Db,
  tenantId: number,
  id: number,
  secretSealed: Buffer,
  overlapMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('integrations')
    .set(eb => ({
      secret_sealed: secretSealed,
      previous_secret_sealed: overlapMs > 0 ? eb.ref('secret_sealed') : null,
      previous_secret_until:
        overlapMs > 0 ? eb.case().when('secret_sealed', 'is not', null).then(clockTimeIn(overlapMs)).end() : null,
      updated_at: transactionTime,
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export async function deleteIntegration(trx: Db, tenantId: number, id: number): Promise<void> {
  await trx.deleteFrom('integrations').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Locks an integration until the transaction ends, and counts its mappings. */
export async function lockIntegration(
  trx: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly kind: Kind; readonly mappings: number } | undefined> {
  const found = await trx
    .selectFrom('integrations')
    .select('kind')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .$narrowType<{ kind: Kind }>()
    .executeTakeFirst();
  if (!found) return undefined;
  // A separate statement: it sees mappings that were added while the first one waited for the lock.
  const { mappings } = await trx
    .selectFrom('integration_mappings')
    .select(eb => eb.fn.countAll<number>().as('mappings'))
    .where('tenant_id', '=', tenantId)
    .where('integration_id', '=', id)
    .executeTakeFirstOrThrow();
  return { kind: found.kind, mappings };
}

export interface MappingFields {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly topics: readonly string[];
  readonly statuses: readonly string[];
  readonly paths: Partial<Paths>;
  readonly template: MappedTemplate | null;
}

export async function insertMapping(
  trx: Db,
  tenantId: number,
  integrationId: number,
  { name, isEnabled, topics, statuses, paths, template }: MappingFields,
): Promise<number> {
  const { id } = await trx
    .insertInto('integration_mappings')
    .values({
      tenant_id: tenantId,
      integration_id: integrationId,
      name,
      is_enabled: isEnabled,
      topics: [...topics],
      statuses: [...statuses],
      paths: JSON.stringify(paths),
      template: template && JSON.stringify(template),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Updates the given fields. @returns whether the mapping exists */
export async function updateMapping(
  trx: Db,
  tenantId: number,
  id: number,
  { name, isEnabled, topics, statuses, paths, template }: Partial<MappingFields>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('integration_mappings')
    .set({
      name,
      is_enabled: isEnabled,
      topics: topics && [...topics],
      statuses: statuses && [...statuses],
      paths: paths && JSON.stringify(paths),
      template: template && JSON.stringify(template),
      updated_at: transactionTime,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export async function deleteMapping(trx: Db, tenantId: number, id: number): Promise<void> {
  await trx.deleteFrom('integration_mappings').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** Whether the tenant has this channel. */
export async function hasChannel(db: Db, tenantId: number, channelId: number): Promise<boolean> {
  const channel = await db
    .selectFrom('channels')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', channelId)
    .executeTakeFirst();
  return channel !== undefined;
}
