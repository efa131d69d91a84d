import { z } from 'zod';
import { type SchemaOverrides, selectionOf } from '../openapi/schema.ts';
import { dropUndefined } from '../runtime/fields.ts';
import { mapValues } from '../runtime/filter.ts';
import type { ListArguments, ListFields } from '../runtime/query.ts';
import { listResponse, type Route, route } from '../runtime/route.ts';
import {
  ListTemplatesDocument,
  type TemplateFilter,
  type TemplateOrderField,
  type TemplateRowFragment,
} from './documents.generated.ts';
import { rowKey, type WriteTime } from './values.ts';

/** Filter and sort fields of templates. */
export const TEMPLATE_LIST: ListFields<TemplateFilter, TemplateOrderField> = {
  filters: {
    name: ['name', 'text'],
    template_name: ['name', 'text'],
    language: ['language', 'text'],
    category: ['networkCategory', 'text'],
    status: ['networkStatus', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', template_name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

type TemplateArguments = ListArguments<TemplateFilter, TemplateOrderField>;

/** The network writes categories and statuses in capitals, and languages with an underscore; clients write them in any form. */
export function templateArguments(list: TemplateArguments): TemplateArguments {
  if (!list.filter) return list;
  const { networkCategory: category, networkStatus: status, language, ...others } = list.filter;
  const filter = dropUndefined({
    ...others,
    networkCategory: category && mapValues(category, word => word.toUpperCase()),
    networkStatus: status && mapValues(status, word => word.toUpperCase()),
    language: language && mapValues(language, word => word.replaceAll('-', '_')),
  }) as TemplateFilter;
  return { ...list, filter };
}

/** Fields of a template that differ from the document's selection. */
export const TEMPLATE_OVERRIDES: SchemaOverrides = {
  with: {
    header_data_format: z
      .string()
      .nullable()
      .describe('TEXT, IMAGE, VIDEO, DOCUMENT or LOCATION; null without a header.'),
    header_data_text: z.string().nullable().describe('Text of the header with its variable.'),
    header_params_count: z.int().nonnegative().describe('Number of variables in the header.'),
    body_data: z.string().nullable().describe('Body text with its variables.'),
    body_params_count: z.int().nonnegative().describe('Number of variables in the body.'),
    footer_data: z.string().nullable().describe('Text of the footer.'),
    buttons_data: z.string().describe('The buttons in the format of the network: a JSON array, as text.'),
  },
};

/** A template in REST, in the order of the contract. Fields that were not read stay undefined, which JSON omits. */
export const templateRowBy = (time: WriteTime) => (row: TemplateRowFragment) => ({
  id: rowKey(row.id),
  template_id: row.template_id,
  template_name: row.template_name,
  name: row.name,
  language: row.language,
  category: row.category,
  status: row.status,
  header_data_format: row.header_data_format && headerFormatOf(row.header_data_format),
  header_data_text: partOf(row.header_data_text, part => part.text),
  header_params_count: countOf(row.header_params_count),
  body_data: partOf(row.body_data, part => part.text),
  body_params_count: countOf(row.body_params_count),
  footer_data: partOf(row.footer_data, part => part.text),
  buttons_data: row.buttons_data && JSON.stringify(buttonsOf(row.buttons_data)),
  components: row.components,
  code_expiration_minutes: row.code_expiration_minutes,
  created_at: time(row.created_at),
  updated_at: time(row.updated_at),
});

/** The list of templates. */
export const templateList = (rowOf: ReturnType<typeof templateRowBy>): Route =>
  route({
    method: 'GET',
    path: '/templates',
    document: ListTemplatesDocument,
    list: TEMPLATE_LIST,
    answer: selectionOf('templates.nodes', TEMPLATE_OVERRIDES),
    variables: ({ list }) => templateArguments(list),
    respond: ({ templates }, { list }) => listResponse('Templates', templates, list, rowOf),
  });

/** Null for a missing part, undefined for a part that was not read. */
const partOf = <Part extends object, Value>(part: Part | null | undefined, read: (part: Part) => Value) =>
  part ? read(part) : (part as null | undefined);

/** 0 for a missing part, undefined for a part that was not read. */
const countOf = (part: { readonly parameters: readonly unknown[] } | null | undefined): number | undefined =>
  part === undefined ? undefined : (part?.parameters.length ?? 0);

interface Component {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly buttons?: unknown;
}

const componentOf = (components: readonly unknown[], type: string): Component | undefined =>
  (components as readonly Component[]).find(component => String(component.type).toUpperCase() === type);

const buttonsOf = (components: readonly unknown[]): unknown => componentOf(components, 'BUTTONS')?.buttons ?? [];

/** The header's format in the network's terms, which are not a closed set; null without a header. */
function headerFormatOf(components: readonly unknown[]): string | null {
  const header = componentOf(components, 'HEADER');
  if (!header) return null;
  return (typeof header.format === 'string' && header.format.toUpperCase()) || 'TEXT';
}
