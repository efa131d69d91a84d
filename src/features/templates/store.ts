import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { ListStatement } from '../lists/list.ts';
import { TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    templates: TemplateRow & { tenant_id: number };
  }
}

const COLUMNS = sql.raw(TEMPLATE_COLUMNS.join(', '));
const columnsOf = (alias: string) => sql.raw(TEMPLATE_COLUMNS.map(column => `${alias}.${column}`).join(', '));

export async function listTemplates(db: Db, statement: ListStatement): Promise<TemplateRow[]> {
  const select = [...TEMPLATE_COLUMNS.map(column => `t.${column}`), ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<TemplateRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

export async function getTemplates(db: Db, tenantId: number, ids: readonly number[]): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    select ${COLUMNS} from templates where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

/** The template with this id of the network's, or else with this id of ours. */
export async function findTemplate(db: Db, tenantId: number, id: string): Promise<TemplateRow | undefined> {
  const ours = Number.isSafeInteger(Number(id)) ? Number(id) : null;
  const { rows } = await sql<TemplateRow>`
    select ${COLUMNS} from templates where tenant_id = ${tenantId} and (network_id = ${id} or id = ${ours}::bigint)
    order by network_id = ${id} desc limit 1`.execute(db);
  return rows[0];
}

/** One language of a template, as a send finds it. Components are read of the wanted language alone. */
export interface Sendable
  extends Pick<TemplateRow, 'language' | 'status' | 'status_reason' | 'category' | 'parameter_format'> {
  /** The channel on whose business account it was looked for. */
  readonly channel_id: number;
  readonly components: TemplateRow['components'] | null;
}

/**
 * A template by name on the business account of a channel, or of the default one, in all its languages.
 * @returns undefined where there is no such channel
 */
export async function findSendables(
  db: Db,
  tenantId: number,
  channelId: number | null,
  name: string,
  language: string,
): Promise<Sendable[] | undefined> {
  const { rows } = await sql<Sendable & { language: string | null }>`
    select ch.id as channel_id, t.language, t.status, t.status_reason, t.category, t.parameter_format, case when t.language = ${language} then t.components end as components
    from channels ch
    left join templates t on t.tenant_id = ${tenantId} and t.waba_id = ch.waba_id and t.name = ${name}
    where ch.tenant_id = ${tenantId} and case when ${channelId}::bigint is null then ch.is_default else ch.id = ${channelId}::bigint end
    order by t.language`.execute(db);
  return rows.length === 0 ? undefined : rows.filter(row => row.language !== null);
}

/** A row that was written, and what it was before; null for one that is new. */
export interface ChangedTemplate {
  readonly row: TemplateRow;
  readonly previous: TemplateRow | null;
}

/** A template as the network has it, in the names of our columns. */
export type TemplateFields = Omit<TemplateRow, 'id' | 'waba_id' | 'created_at' | 'updated_at'>;

const RECORD = sql.raw(`network_id text, name text, language text, category text, status text, status_reason text,
  parameter_format text, quality text, components jsonb`);

/**
 * Writes templates of one business account as the network has them: those that are new or differ, and no others. What the
 * network does not say (a reason, a quality) stays as a webhook told it. A template that the network is taking away does
 * not become new again.
 *
 * @param templates no name twice in one language
 */
export async function upsertTemplates(
  trx: Db,
  tenantId: number,
  wabaId: string,
  templates: readonly TemplateFields[],
): Promise<ChangedTemplate[]> {
  const { rows } = await sql<ChangedTemplate>`
    with incoming as materialized (
      select i.network_id, i.name, i.language, i.category, i.status, i.parameter_format, i.components,
             coalesce(i.status_reason, case when t.status = i.status then t.status_reason end) as status_reason,
             coalesce(i.quality, t.quality) as quality, t.id
      from jsonb_to_recordset(${JSON.stringify(templates)}::jsonb) as i (${RECORD})
      left join templates t on t.tenant_id = ${tenantId} and t.waba_id = ${wabaId} and t.name = i.name and t.language = i.language
      where case when t.id is null then i.status <> 'PENDING_DELETION' else
        (t.network_id, t.category, t.status, t.parameter_format, t.components)
          is distinct from (i.network_id, i.category, i.status, i.parameter_format, i.components)
        or i.status_reason <> coalesce(t.status_reason, '') or i.quality <> coalesce(t.quality, '') end
    ), before as materialized (
      select ${columnsOf('t')} from templates t
      where t.tenant_id = ${tenantId} and t.id = any(array(select id from incoming)) order by t.id for update
    ), written as (
      insert into templates as t (tenant_id, waba_id, network_id, name, language, category, status, status_reason, parameter_format, quality, components)
      select ${tenantId}::bigint, ${wabaId}, i.network_id, i.name, i.language, i.category, i.status, i.status_reason, i.parameter_format, i.quality, i.components
      from incoming i left join before b on b.id = i.id order by b.id, i.name, i.language
      on conflict (tenant_id, waba_id, name, language) do update
      set network_id = excluded.network_id, category = excluded.category, status = excluded.status, status_reason = excluded.status_reason,
          parameter_format = excluded.parameter_format, quality = excluded.quality, components = excluded.components, updated_at = now()
      where t.tenant_id = excluded.tenant_id
      returning ${columnsOf('t')}
    )
    select to_jsonb(w) as row, to_jsonb(b) as previous from written w left join before b on b.id = w.id order by w.name, w.language`.execute(
    trx,
  );
  return rows;
}

/**
 * Adds a template that was just submitted; one of the same name and language that it replaces on the network gives way.
 * @returns undefined where it is known already
 */
export async function insertTemplate(
  trx: Db,
  tenantId: number,
  wabaId: string,
  template: TemplateFields,
): Promise<TemplateRow | undefined> {
  const { rows } = await sql<TemplateRow>`
    insert into templates as t (tenant_id, waba_id, network_id, name, language, category, status, status_reason, parameter_format, quality, components)
    values (${tenantId}, ${wabaId}, ${template.network_id}, ${template.name}, ${template.language}, ${template.category}, ${template.status},
            ${template.status_reason}, ${template.parameter_format}, ${template.quality}, ${JSON.stringify(template.components)}::jsonb)
    on conflict (tenant_id, waba_id, name, language) do update
    set network_id = excluded.network_id, category = excluded.category, status = excluded.status, status_reason = excluded.status_reason,
        parameter_format = excluded.parameter_format, quality = excluded.quality, components = excluded.components, created_at = now(), updated_at = now()
    where t.tenant_id = excluded.tenant_id and t.network_id <> excluded.network_id
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

/** What became known of one template of a business account; undefined: nothing of that. */
export interface TemplatePatch {
  readonly waba_id: string;
  readonly name: string;
  readonly language: string;
  readonly status?: string | undefined;
  readonly status_reason?: string | null | undefined;
  readonly quality?: string | undefined;
  readonly category?: string | undefined;
}

/**
 * Writes what webhooks told.
 *
 * @param patches no template twice
 * @returns for each patch whose template is known the row, whether it has changed or not
 */
export async function patchTemplates(
  trx: Db,
  tenantId: number,
  patches: readonly TemplatePatch[],
): Promise<ChangedTemplate[]> {
  const { rows } = await sql<ChangedTemplate>`
    with p as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(patches)}::jsonb)
        as p (waba_id text, name text, language text, status text, status_reason text, quality text, category text)
    ), before as materialized (
      select ${columnsOf('t')} from templates t join p on p.waba_id = t.waba_id and p.name = t.name and p.language = t.language
      where t.tenant_id = ${tenantId} order by t.id for update of t
    ), written as (
      update templates t
      set status = coalesce(p.status, t.status), status_reason = case when p.status is null then t.status_reason else p.status_reason end,
          quality = coalesce(p.quality, t.quality), category = coalesce(p.category, t.category), updated_at = now()
      from before b join p on p.waba_id = b.waba_id and p.name = b.name and p.language = b.language
      where t.tenant_id = ${tenantId} and t.id = b.id
        and (coalesce(p.status, b.status), coalesce(p.quality, b.quality), coalesce(p.category, b.category),
             case when p.status is null then b.status_reason else p.status_reason end)
          is distinct from (b.status, b.quality, b.category, b.status_reason)
      returning ${columnsOf('t')}
    )
    select coalesce(to_jsonb(w), to_jsonb(b)) as row, to_jsonb(b) as previous from before b left join written w on w.id = b.id order by b.id`.execute(
    trx,
  );
  return rows;
}

/** Takes away the templates of a business account that were there at `sinceIso` and are none of these. @returns what they were */
export async function deleteOthers(
  trx: Db,
  tenantId: number,
  wabaId: string,
  sinceIso: string,
  present: readonly { readonly name: string; readonly language: string }[],
): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    delete from templates t
    where t.tenant_id = ${tenantId} and t.waba_id = ${wabaId} and t.created_at < ${sinceIso}::timestamptz and not exists (
      select from unnest(${present.map(({ name }) => name)}::text[], ${present.map(({ language }) => language)}::text[]) as p (name, language)
      where p.name = t.name and p.language = t.language)
    returning ${COLUMNS}`.execute(trx);
  return rows;
}

/** Takes these templates away. @returns what they were, of those that were there */
export async function deleteTemplates(
  trx: Db,
  tenantId: number,
  templates: readonly Pick<TemplateRow, 'waba_id' | 'name' | 'language'>[],
): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    delete from templates t
    using jsonb_to_recordset(${JSON.stringify(templates)}::jsonb) as p (waba_id text, name text, language text)
    where t.tenant_id = ${tenantId} and t.waba_id = p.waba_id and t.name = p.name and t.language = p.language
    returning ${columnsOf('t')}`.execute(trx);
  return rows;
}
