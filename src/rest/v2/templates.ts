import { notFound } from '../../errors.ts';
import { said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  GetTemplateDocument,
  ListTemplatesDocument,
  SyncTemplatesDocument,
  type TemplateFilter,
  type TemplateOrderField,
  type TemplateRowFragment,
} from '../documents.generated.ts';
import { eachValue } from '../filter.ts';
import { type ListArguments, type ListFields, readList } from '../list-query.ts';
import { type Changes, id, integer, nullable, object, selected, text } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import { time, type WriteTime } from '../wire-time.ts';

const FIELDS = rowFields(ListTemplatesDocument);

export const TEMPLATES: ListFields<TemplateFilter, TemplateOrderField> = {
  filters: {
    name: ['name', 'text'],
    template_name: ['name', 'text'],
    language: ['language', 'text'],
    category: ['category', 'text'],
    status: ['status', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', template_name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

/** How a template on the wire differs from what is selected. */
export const TEMPLATE: Changes = {
  with: {
    header_data_format: nullable(text('TEXT, IMAGE, VIDEO, DOCUMENT or LOCATION; null without a header.')),
    header_data_text: nullable(text('The text of the header, with its variable.')),
    header_params_count: integer('How many variables the header has.', { min: 0 }),
    body_data: nullable(text('The text, with its variables.')),
    body_params_count: integer('How many variables the text has.', { min: 0 }),
    footer_data: nullable(text('What stands below.')),
    buttons_data: text('The buttons as the network writes them: a JSON array, as text.'),
  },
};

/** A template on the wire, in the order of the contract. What was not read is undefined, and so not written. */
export const templateRowBy = (time: WriteTime) => (row: TemplateRowFragment) => ({
  id: row.id,
  template_id: row.template_id,
  template_name: row.template_name,
  name: row.name,
  language: row.language,
  category: row.category,
  status: row.status,
  header_data_format: of(row.header_data_format, part => part.format),
  header_data_text: of(row.header_data_text, part => part.text),
  header_params_count: count(row.header_params_count),
  body_data: of(row.body_data, part => part.text),
  body_params_count: count(row.body_params_count),
  footer_data: of(row.footer_data, part => part.text),
  buttons_data: row.buttons_data && JSON.stringify(buttonsOf(row.buttons_data)),
  components: row.components,
  code_expiration_minutes: row.code_expiration_minutes,
  created_at: time(row.created_at),
  updated_at: time(row.updated_at),
});

export const templateRow = templateRowBy(time);

/** Null where the part is missing; undefined where it was not read. */
const of = <Part extends object, Value>(part: Part | null | undefined, read: (part: Part) => Value) =>
  part ? read(part) : (part as null | undefined);

/** None where the part is missing; undefined where it was not read. */
const count = (part: { readonly parameters: readonly string[] } | null | undefined): number | undefined =>
  part === undefined ? undefined : (part?.parameters.length ?? 0);

function buttonsOf(components: readonly unknown[]): unknown {
  const buttons = (components as readonly { readonly type?: unknown; readonly buttons?: unknown }[]).find(
    ({ type }) => String(type).toUpperCase() === 'BUTTONS',
  );
  return buttons?.buttons ?? [];
}

type Asked = ListArguments<TemplateFilter, TemplateOrderField>;

/** The network's words are in capitals, and its languages have an underscore; clients write them in every way. */
export function readTemplateList(call: Call): Asked {
  const list = readList(call.query, TEMPLATES, call.errors);
  const { category, status, language, ...others } = list.filter ?? {};
  const filter = said({
    ...others,
    category: category && eachValue(category, word => word.toUpperCase()),
    status: status && eachValue(status, word => word.toUpperCase()),
    language: language && eachValue(language, word => word.replaceAll('-', '_')),
  }) as Asked['filter'];
  return { ...list, filter: list.filter && filter };
}

export const templateRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/templates',
    document: ListTemplatesDocument,
    list: TEMPLATES,
    answer: selected('templates.nodes', TEMPLATE),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      const list = readTemplateList(call);
      return {
        variables: { ...list, ...shown },
        respond: ({ templates }) => ({
          message: 'Templates',
          data: templates.nodes.map(templateRow),
          page: { ...list, total: templates.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/templates/:id',
    document: GetTemplateDocument,
    params: { id: text("The network's id of the template, or ours.", { pattern: '^[0-9]+$' }) },
    answer: selected('template', TEMPLATE),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      return {
        variables: { id: call.networkId('Template'), ...shown },
        respond: ({ template }) => {
          if (!template) throw notFound('Template');
          return { message: 'Template', data: templateRow(template) };
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/templates/sync',
    document: SyncTemplatesDocument,
    notes:
      'Reads the templates of all business accounts of the tenant from the network, or of the one that a channel belongs to.',
    body: object({ channel_id: id('A channel of the business account; all accounts when nothing is said.') }),
    example: { channel_id: 1 },
    errors: ['NOT_FOUND', 'MESSAGING_NOT_CONFIGURED', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
    plan: call => ({
      variables: said({ channelId: call.body().id('channel_id') }),
      respond: ({ sync }) => ({ message: 'Templates synchronised', data: sync }),
    }),
  }),
];
