import { z } from 'zod';
import { FieldErrorList, type FieldErrors } from '../../core/errors.ts';
import { jsonSchemaOf, selectionOf } from '../openapi/schema.ts';
import {
  alias,
  body,
  dropUndefined,
  flag,
  object,
  REQUIRED,
  readBody,
  requiredIds,
  requiredList,
  text,
} from '../runtime/fields.ts';
import { repairedBodies } from '../runtime/repair.ts';
import { type Route, route } from '../runtime/route.ts';
import { CONTACT_DETAILS, CONTACT_OVERRIDES, COUNTRY_ID, contactInput, GROUP_IDS } from '../wire/contact.ts';
import {
  type ContactInput,
  CreateContactsDocument,
  type CreateContactsMutation,
  DeleteContactsDocument,
} from '../wire/documents.generated.ts';
import { wirePath } from '../wire/names.ts';
import { contactRow } from './contacts.ts';

/** New contacts have no conversation, so the window is not read, nor are groups unless a row names some. */
const NO_WINDOW = { service_window: { open: false, expires_at: null } };

const ROW = body({ phone: alias(text(), 'phone_number'), ...CONTACT_DETAILS, ...COUNTRY_ID, ...GROUP_IDS });

interface ReadRow {
  readonly sent: unknown;
  readonly item: ContactInput;
  readonly faults: FieldErrors | undefined;
  readonly hasPhone: boolean;
}

/** Reads one row. A faulty row does not fail the others. */
function readRow(sent: unknown): ReadRow {
  const errors = new FieldErrorList();
  const read = readBody(ROW, sent, errors);
  if (read) return { sent, item: itemOf(read), faults: undefined, hasPhone: read.phone != null };
  // GraphQL would refuse the whole batch for one wrong type. A faulty row is passed on without its unreadable fields and without its
  // phone number, so that it is refused, counted and rolled back like any other, and the faults of its other fields are reported too.
  const [repaired] = repairedBodies(ROW, sent);
  const rest = repaired === undefined ? undefined : readBody(ROW, repaired, new FieldErrorList());
  const { phone, ...item }: ContactInput = rest ? itemOf(rest) : {};
  return { sent, item, faults: errors.fields, hasPhone: rest === undefined || phone != null };
}

function itemOf({ phone, country_id, groups, ...details }: z.output<typeof ROW>): ContactInput {
  return dropUndefined({ ...contactInput(details, country_id), phone, groupIds: groups });
}

const ITEM = z
  .unknown()
  .transform(readRow)
  .meta({ ...jsonSchemaOf(ROW), required: ['phone'] });

const INDEX = z.int().describe('Position of the row in the batch, starting at 0.');
const SENT_ROW = z.any().describe('The row as it was sent.');

type Results = CreateContactsMutation['result']['results'];

/** The errors of a row in REST's names: below the row, which is the third step of their paths. */
function wireErrors({ userErrors }: Results[number]): FieldErrors {
  const errors = new FieldErrorList();
  for (const { code, path, message } of userErrors)
    errors.add(code === 'ROLLED_BACK' ? 'batch' : wirePath(path.slice(2).join('.')) || 'contacts', message);
  return errors.fields;
}

/** The errors of a row. An unreadable row was passed on without its phone number, so its absence is not a fault of the request. */
function errorsOf(row: ReadRow | undefined, result: Results[number]): FieldErrors {
  if (!row?.faults) return wireErrors(result);
  const { phone, ...others } = wireErrors(result);
  return { ...others, ...(phone && !row.hasPhone && { phone }), ...row.faults };
}

export const contactBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/contacts/batch',
    document: CreateContactsDocument,
    withoutEnvelope: true,
    body: body({
      contacts: requiredList(ITEM, { minItems: 1, maxItems: 1_000 }),
      options: object({ continue_on_error: flag(), skip_duplicates: flag() }),
    }),
    example: { contacts: [{ phone: '+14155550123', firstname: 'Ana' }], options: { skip_duplicates: true } },
    answer: z.object({
      success: z.boolean().describe('False if an error rolled the whole batch back.'),
      summary: z.object({
        total: selectionOf('result.summary.total'),
        created: z.int().describe('Number of contacts created.'),
        skipped: z.int().describe('Number of duplicates skipped.'),
        failed: z.int().describe('Number of contacts not created.'),
      }),
      created: z.array(selectionOf('result.results.contact', CONTACT_OVERRIDES)).describe('The created contacts.'),
      skipped: z
        .array(z.object({ index: INDEX, reason: z.string().describe('Why the row was skipped.'), data: SENT_ROW }))
        .describe('Duplicates that were skipped.'),
      errors: z
        .array(
          z.object({
            index: INDEX,
            data: SENT_ROW,
            errors: z.record(z.string(), z.array(z.string())).describe('Error messages by field name.'),
          }),
        )
        .describe('Rows that were not created.'),
    }),
    variables: ({ call, body: { contacts, options } }) => ({
      input: dropUndefined({
        contacts: contacts.map(row => row.item),
        onError: options?.continue_on_error === false ? ('ROLL_BACK' as const) : ('CONTINUE' as const),
        skipDuplicates: options?.skip_duplicates ?? false,
        idempotencyKey: call.idempotencyKey,
      }),
      with_service_window: false,
      with_group_id: contacts.some(({ item }) => item.groupIds),
    }),
    respond: ({ result: { summary, results } }, { body: { contacts } }) => {
      const created = results.flatMap(({ contact }) => contact ?? []);
      const failed = results.filter(({ outcome }) => outcome === 'FAILED' || outcome === 'ROLLED_BACK');
      return {
        message: '',
        data: {
          success: !summary?.isRolledBack,
          summary: {
            total: results.length,
            created: created.length,
            skipped: summary?.skipped,
            failed: failed.length,
          },
          created: created.map(contact => {
            const row = contactRow(contact);
            return { ...row, group_id: row.group_id ?? [], ...NO_WINDOW };
          }),
          skipped: results
            .filter(({ outcome }) => outcome === 'SKIPPED')
            .map(({ index, userErrors }) => ({
              index,
              reason: userErrors[0]?.message,
              data: contacts[index]?.sent,
            })),
          errors: failed.map(row => ({
            index: row.index,
            data: contacts[row.index]?.sent,
            errors: errorsOf(contacts[row.index], row),
          })),
        },
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/contacts/batch',
    document: DeleteContactsDocument,
    withoutEnvelope: true,
    body: body({ ids: requiredIds({ minItems: 1, maxItems: 1_000 }).refine(ids => ids.length > 0, REQUIRED) }),
    example: { ids: [1207, 1208] },
    answer: z.object({
      success: z.boolean().describe('Always true.'),
      summary: z.object({
        total: z
          .int()
          .describe(
            'Number of distinct contacts and unknown ids in the request; former ids of a merged contact mean that contact.',
          ),
        deleted: z.int().describe('Number of contacts deleted.'),
        failed: z.int().describe('Number of ids that do not exist.'),
      }),
    }),
    variables: ({ body: { ids } }) => ({ input: { ids: [...new Set(ids)] } }),
    respond: ({ result: { deletedIds, summary } }) => ({
      message: '',
      data: {
        success: true,
        summary: {
          total: deletedIds.length + (summary?.failed ?? 0),
          deleted: deletedIds.length,
          failed: summary?.failed,
        },
      },
    }),
  }),
];
