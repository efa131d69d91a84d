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
import { type Route, route } from '../runtime/route.ts';
import { CONTACT_CHANGES, CONTACT_DETAILS, COUNTRY_ID, contactInput } from '../wire/contact.ts';
import { CreateContactsDocument, DeleteContactsDocument } from '../wire/documents.generated.ts';
import { wirePath } from '../wire/names.ts';
import { contactRow } from './contacts.ts';

/** New contacts have neither groups nor a conversation, so neither is looked up a thousand times. */
const UNREAD = { with_group_id: false, with_service_window: false };
const EMPTY = { group_id: [], service_window: { open: false, expires_at: null } };

const ROW = body({ phone: alias(text(), 'phone_number'), ...CONTACT_DETAILS, ...COUNTRY_ID });

/** A row is read by itself, because a faulty row does not fail the others. */
function readRow(sent: unknown) {
  const errors = new FieldErrorList();
  const read = readBody(ROW, sent, errors);
  // An unreadable row is sent as an empty one: it is refused for its missing phone number, counted and rolled back like any
  // other, and the answer then has our reasons. GraphQL would refuse the whole batch for one wrong type.
  if (!read) return { sent, item: {}, faults: errors.fields };
  const { phone, country_id, ...details } = read;
  return { sent, item: dropUndefined({ ...contactInput(details, country_id), phone }), faults: undefined };
}

const ITEM = z
  .unknown()
  .transform(readRow)
  .meta({ ...jsonSchemaOf(ROW), required: ['phone'] });

const INDEX = z.int().describe('Position of the row in the batch, starting at 0.');
const SENT_ROW = z.any().describe('The row as it was sent.');

const wireErrors = (errors: unknown): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors ?? {}).map(([path, messages]: [string, readonly string[]]) => [wirePath(path), messages]),
  );

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
      success: selectionOf('batch.success'),
      summary: z.object({
        total: selectionOf('batch.total'),
        created: z.int().describe('Number of contacts created.'),
        skipped: z.int().describe('Number of duplicates skipped.'),
        failed: z.int().describe('Number of contacts not created.'),
      }),
      created: z.array(selectionOf('batch.created', CONTACT_CHANGES)).describe('The created contacts.'),
      skipped: z
        .array(z.object({ index: INDEX, reason: selectionOf('batch.skipped.reason'), data: SENT_ROW }))
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
        continueOnError: options?.continue_on_error ?? true,
        skipDuplicates: options?.skip_duplicates ?? false,
        idempotencyKey: call.idempotencyKey,
      }),
      ...UNREAD,
    }),
    respond: ({ batch: { success, total, created, skipped, errors } }, { body: { contacts } }) => ({
      message: '',
      data: {
        success,
        summary: { total, created: created.length, skipped: skipped.length, failed: errors.length },
        created: created.map(contact => ({ ...contactRow(contact), ...EMPTY })),
        skipped: skipped.map(({ index, reason }) => ({ index, reason, data: contacts[index]?.sent })),
        errors: errors.map(row => ({
          index: row.index,
          data: contacts[row.index]?.sent,
          errors: contacts[row.index]?.faults ?? wireErrors(row.errors),
        })),
      },
    }),
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
    variables: ({ body: { ids } }) => ({ ids: [...new Set(ids)] }),
    respond: ({ batch: { deletedIds, notFoundIds } }) => ({
      message: '',
      data: {
        success: true,
        summary: {
          total: deletedIds.length + notFoundIds.length,
          deleted: deletedIds.length,
          failed: notFoundIds.length,
        },
      },
    }),
  }),
];
