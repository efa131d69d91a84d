import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import type { IntegrationRow, Kind } from './integration.ts';
import type { MappedTemplate, MappingRow, Paths } from './mapping.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    integrations: { tenant_id: number; id: number; key: string };
    integration_mappings: { tenant_id: number; id: number };
    integration_mapping_groups: { tenant_id: number; mapping_id: number; group_id: number };
  }
}

const MAPPING = `jsonb_build_object('id', m.id, 'integration_id', m.integration_id, 'name', m.name, 'is_enabled', m.is_enabled,
  'topics', m.topics, 'statuses', m.statuses, 'paths', m.paths, 'template', m.template, 'created_at', m.created_at, 'updated_at', m.updated_at,
  'groups', coalesce((select jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'created_at', g.created_at, 'updated_at', g.updated_at) order by g.name)
    from integration_mapping_groups mg join groups g on g.tenant_id = mg.tenant_id and g.id = mg.group_id
    where mg.tenant_id = m.tenant_id and mg.mapping_id = m.id), '[]'))`;

const COLUMNS = `i.id, i.kind, i.name, i.key, i.is_enabled, i.default_country, i.topic_path, i.secret_sealed is not null as has_secret,
  i.previous_secret_until, i.created_at, i.updated_at,
  coalesce((select jsonb_agg(${MAPPING} order by m.id) from integration_mappings m
    where m.tenant_id = i.tenant_id and m.integration_id = i.id), '[]') as mappings`;
const columns = sql.raw(COLUMNS);

export async function getIntegrations(db: Db, tenantId: number, ids: readonly number[]): Promise<IntegrationRow[]> {
  const { rows } = await sql<IntegrationRow>`
    select ${columns} from integrations i where i.tenant_id = ${tenantId} and i.id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

export async function listIntegrations(db: Db, statement: ListStatement): Promise<IntegrationRow[]> {
  const select = [COLUMNS, ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<IntegrationRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

/** What has to be known of an integration to let a request in. */
export interface Doorkeeper {
  readonly tenant_id: number;
  readonly id: number;
  readonly kind: Kind;
  readonly is_enabled: boolean;
  /** Of the tenant. */
  readonly is_active: boolean;
  readonly secret_sealed: Buffer | null;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: string | null;
}

/** @returns in the order of the keys */
export async function findByKeys(db: Db, keys: readonly string[]): Promise<(Doorkeeper | undefined)[]> {
  const { rows } = await sql<Doorkeeper & { key: string }>`
    /* cross-tenant: the key says whose the integration is */
    select i.key, i.tenant_id, i.id, i.kind, i.is_enabled, n.status = 'active' as is_active, i.secret_sealed, i.previous_secret_sealed, i.previous_secret_until
    from integrations i join tenants n on n.tenant_id = i.tenant_id where i.key = any(${keys}::text[])`.execute(db);
  const byKey = new Map(rows.map(row => [row.key, row]));
  return keys.map(key => byKey.get(key));
}

export interface IntegrationFields {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly defaultCountry: string | null;
  readonly topicPath: string;
}

/** How many there are. The tenant's row keeps others from making one until the transaction ends. */
export async function countIntegrations(trx: Db, tenantId: number): Promise<number> {
  await sql`select from tenants where tenant_id = ${tenantId} for no key update`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from integrations where tenant_id = ${tenantId}`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** @returns its id; undefined when the name is taken */
export async function insertIntegration(
  trx: Db,
  tenantId: number,
  made: IntegrationFields & { readonly kind: Kind; readonly key: string; readonly secretSealed: Uint8Array | null },
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    insert into integrations (tenant_id, kind, name, key, secret_sealed, is_enabled, default_country, topic_path)
    values (${tenantId}, ${made.kind}, ${made.name}, ${made.key}, ${made.secretSealed}, ${made.isEnabled}, ${made.defaultCountry}, ${made.topicPath})
    on conflict (tenant_id, lower(name)) do nothing
    returning id`.execute(trx);
  return rows[0]?.id;
}

/** Changes what is given. @returns whether it is there @throws a unique violation of integrations_name_key */
export async function updateIntegration(
  trx: Db,
  tenantId: number,
  id: number,
  { name, isEnabled, defaultCountry, topicPath }: Partial<IntegrationFields>,
): Promise<boolean> {
  const { rows } = await sql`
    update integrations set name = coalesce(${name ?? null}, name), is_enabled = coalesce(${isEnabled ?? null}, is_enabled),
      default_country = case when ${defaultCountry !== undefined} then ${defaultCountry ?? null} else default_country end,
      topic_path = coalesce(${topicPath ?? null}, topic_path), updated_at = now()
    where tenant_id = ${tenantId} and id = ${id} returning id`.execute(trx);
  return rows.length > 0;
}

/** Gives a new secret; the one before stays good until `previousUntilIso`, or goes at once. @returns whether the integration is there */
export async function replaceSecret(
  trx: Db,
  tenantId: number,
  id: number,
  secretSealed: Uint8Array,
  previousUntilIso: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    update integrations set secret_sealed = ${secretSealed}, updated_at = now(),
      previous_secret_sealed = case when ${previousUntilIso}::timestamptz is not null then secret_sealed end,
      previous_secret_until = case when secret_sealed is not null then ${previousUntilIso}::timestamptz end
    where tenant_id = ${tenantId} and id = ${id} returning id`.execute(trx);
  return rows.length > 0;
}

export async function deleteIntegration(trx: Db, tenantId: number, id: number): Promise<void> {
  await sql`delete from integrations where tenant_id = ${tenantId} and id = ${id}`.execute(trx);
}

/** Holds an integration until the transaction ends, so that its mappings are counted right. */
export async function lockIntegration(
  trx: Db,
  tenantId: number,
  id: number,
): Promise<{ readonly kind: Kind; readonly mappings: number } | undefined> {
  const { rows } = await sql<{ kind: Kind }>`
    select kind from integrations where tenant_id = ${tenantId} and id = ${id} for update`.execute(trx);
  const [found] = rows;
  if (!found) return undefined;
  // A statement of its own: what others have added while we waited is seen by it alone.
  const { rows: counts } = await sql<{ mappings: number }>`
    select count(*) as mappings from integration_mappings where tenant_id = ${tenantId} and integration_id = ${id}`.execute(
    trx,
  );
  return { kind: found.kind, mappings: counts[0]?.mappings ?? 0 };
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
  fields: MappingFields,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into integration_mappings (tenant_id, integration_id, name, is_enabled, topics, statuses, paths, template)
    values (${tenantId}, ${integrationId}, ${fields.name}, ${fields.isEnabled}, ${fields.topics}::text[], ${fields.statuses}::text[],
            ${JSON.stringify(fields.paths)}::jsonb, ${fields.template && JSON.stringify(fields.template)}::jsonb)
    returning id`.execute(trx);
  const [row] = rows;
  if (!row) throw new Error('A mapping was not written.');
  return row.id;
}

/** Changes what is given. @returns whether it is there */
export async function updateMapping(
  trx: Db,
  tenantId: number,
  id: number,
  { name, isEnabled, topics, statuses, paths, template }: Partial<MappingFields>,
): Promise<boolean> {
  const { rows } = await sql`
    update integration_mappings set name = coalesce(${name ?? null}, name), is_enabled = coalesce(${isEnabled ?? null}, is_enabled),
      topics = coalesce(${topics ?? null}::text[], topics), statuses = coalesce(${statuses ?? null}::text[], statuses),
      paths = coalesce(${paths ? JSON.stringify(paths) : null}::jsonb, paths),
      template = case when ${template !== undefined} then ${template ? JSON.stringify(template) : null}::jsonb else template end,
      updated_at = now()
    where tenant_id = ${tenantId} and id = ${id} returning id`.execute(trx);
  return rows.length > 0;
}

export async function deleteMapping(trx: Db, tenantId: number, id: number): Promise<void> {
  await sql`delete from integration_mappings where tenant_id = ${tenantId} and id = ${id}`.execute(trx);
}

/** Sets the groups of a mapping to exactly these. */
export async function setMappingGroups(
  trx: Db,
  tenantId: number,
  mappingId: number,
  groupIds: readonly number[],
): Promise<void> {
  await sql`
    with gone as (
      delete from integration_mapping_groups
      where tenant_id = ${tenantId} and mapping_id = ${mappingId} and group_id <> all(${groupIds}::bigint[])
    )
    insert into integration_mapping_groups (tenant_id, mapping_id, group_id)
    select ${tenantId}::bigint, ${mappingId}::bigint, group_id from unnest(${groupIds}::bigint[]) as group_id
    on conflict do nothing`.execute(trx);
}

export async function getMappings(db: Db, tenantId: number, ids: readonly number[]): Promise<MappingRow[]> {
  const { rows } = await sql<{ mapping: MappingRow }>`
    select ${sql.raw(MAPPING)} as mapping from integration_mappings m
    where m.tenant_id = ${tenantId} and m.id = any(${ids}::bigint[])`.execute(db);
  return rows.map(({ mapping }) => mapping);
}

/** Whether a channel is one of the tenant's. */
export async function hasChannel(db: Db, tenantId: number, channelId: number): Promise<boolean> {
  const { rows } = await sql`select id from channels where tenant_id = ${tenantId} and id = ${channelId}`.execute(db);
  return rows.length > 0;
}
