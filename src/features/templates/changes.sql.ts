import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { eventValue } from '../../database/expressions.ts';
import { TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

/** Statements that apply the network's templates, a page or a batch of webhooks at a time. */

const COLUMNS = sql.raw(TEMPLATE_COLUMNS.map(column => `t.${column}`).join(', '));

/** A row as JSON, with times as the driver returns them. */
const json = (alias: 'w' | 'b') =>
  sql`to_jsonb(${sql.ref(alias)}) || jsonb_build_object(${sql.join(['created_at', 'updated_at'].map(column => sql`${sql.lit(column)}, ${eventValue(alias, column)}`))})`;

/** A written row, and the same row before the write; null if it is new. */
export interface ChangedTemplate {
  readonly row: TemplateRow;
  readonly previous: TemplateRow | null;
}

/** A template as the network returns it, under our column names. */
export type TemplateFields = Omit<TemplateRow, 'id' | 'waba_id' | 'created_at' | 'updated_at'>;

const RECORD = sql.raw(`network_id text, name text, language text, category text, status text, status_reason text,
  parameter_format text, quality text, components jsonb`);

/**
 * Inserts new and updates changed templates of one business account; unchanged rows are not written. A reason or quality that
 * the network omits keeps the value of the last webhook. A template pending deletion is updated, but not inserted.
 *
 * @param templates at most one per name and language
 * @param sinceIso not after the network was asked for them: rows that were changed since then, by webhooks, are newer and stay
 */
export async function upsertTemplates(
  trx: Db,
  tenantId: number,
  wabaId: string,
  templates: readonly TemplateFields[],
  sinceIso: string,
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
      select ${COLUMNS} from templates t
      where t.tenant_id = ${tenantId} and t.id = any(array(select id from incoming)) order by t.id for update
    ), written as (
      insert into templates as t (tenant_id, waba_id, network_id, name, language, category, status, status_reason, parameter_format, quality, components)
      select ${tenantId}::bigint, ${wabaId}, i.network_id, i.name, i.language, i.category, i.status, i.status_reason, i.parameter_format, i.quality, i.components
      from incoming i left join before b on b.id = i.id order by b.id, i.name, i.language
      on conflict (tenant_id, waba_id, name, language) do update
      set network_id = excluded.network_id, category = excluded.category, status = excluded.status, status_reason = excluded.status_reason,
          parameter_format = excluded.parameter_format, quality = excluded.quality, components = excluded.components, updated_at = now()
      where t.tenant_id = excluded.tenant_id and t.updated_at < ${sinceIso}::timestamptz
      returning ${COLUMNS}
    )
    select ${json('w')} as row, ${json('b')} as previous from written w left join before b on b.id = w.id order by w.name, w.language`.execute(
    trx,
  );
  return rows;
}

/** Changes of one template, from webhooks. Undefined fields are unchanged. */
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
 * Applies changes from webhooks.
 *
 * @param patches at most one per template
 * @returns the rows of known templates, changed or not
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
      select ${COLUMNS} from templates t join p on p.waba_id = t.waba_id and p.name = t.name and p.language = t.language
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
      returning ${COLUMNS}
    )
    select coalesce(${json('w')}, ${json('b')}) as row, ${json('b')} as previous from before b left join written w on w.id = b.id order by b.id`.execute(
    trx,
  );
  return rows;
}

/** Deletes the templates of a business account that were created before `sinceIso` and are not in `present`. @returns the deleted rows */
export async function deleteMissing(
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

/** Deletes templates by name and language. @returns the deleted rows */
export async function deleteTemplates(
  trx: Db,
  tenantId: number,
  templates: readonly Pick<TemplateRow, 'waba_id' | 'name' | 'language'>[],
): Promise<TemplateRow[]> {
  const { rows } = await sql<TemplateRow>`
    delete from templates t
    using jsonb_to_recordset(${JSON.stringify(templates)}::jsonb) as p (waba_id text, name text, language text)
    where t.tenant_id = ${tenantId} and t.waba_id = p.waba_id and t.name = p.name and t.language = p.language
    returning ${COLUMNS}`.execute(trx);
  return rows;
}
