import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { ListStatement } from '../../database/list.ts';
import { raw } from '../../database/statements.ts';
import type { IntegrationRow } from './integration.ts';
import type { MappingRow } from './mappings/mapping.ts';

const MAPPING = `jsonb_build_object('id', m.id, 'integration_id', m.integration_id, 'name', m.name, 'is_enabled', m.is_enabled,
  'topics', m.topics, 'statuses', m.statuses, 'paths', m.paths, 'template', m.template, 'created_at', m.created_at, 'updated_at', m.updated_at,
  'groups', coalesce((select jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'created_at', g.created_at, 'updated_at', g.updated_at) order by g.name)
    from integration_mapping_groups mg join groups g on g.tenant_id = mg.tenant_id and g.id = mg.group_id
    where mg.tenant_id = m.tenant_id and mg.mapping_id = m.id), '[]'))`;

const COLUMNS = `i.id, i.kind, i.name, i.key, i.is_enabled, i.default_country, i.topic_path, i.secret_sealed is not null as has_secret,
  i.previous_secret_until, i.created_at, i.updated_at,
  coalesce((select jsonb_agg(${MAPPING} order by m.id) from integration_mappings m
    where m.tenant_id = i.tenant_id and m.integration_id = i.id), '[]') as mappings`;

export async function getIntegrations(db: Db, tenantId: number, ids: readonly number[]): Promise<IntegrationRow[]> {
  const { rows } = await sql<IntegrationRow>`
    select ${sql.raw(COLUMNS)} from integrations i where i.tenant_id = ${tenantId} and i.id = any(${ids}::bigint[])`.execute(
    db,
  );
  return rows;
}

export async function listIntegrations(db: Db, statement: ListStatement): Promise<IntegrationRow[]> {
  const select = [COLUMNS, ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<IntegrationRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

export async function getMappings(db: Db, tenantId: number, ids: readonly number[]): Promise<MappingRow[]> {
  const { rows } = await sql<{ mapping: MappingRow }>`
    select ${sql.raw(MAPPING)} as mapping from integration_mappings m
    where m.tenant_id = ${tenantId} and m.id = any(${ids}::bigint[])`.execute(db);
  return rows.map(({ mapping }) => mapping);
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
