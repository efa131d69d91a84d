import { FieldErrorList, type FieldErrors } from '../../errors.ts';
import { Body, said } from '../body.ts';
import { CreateContactsDocument, DeleteContactsDocument } from '../documents.generated.ts';
import { anything, dictionary, flag, given, id, integer, list, object, required, selected } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { wirePath } from '../wire-names.ts';
import { CONTACT, contactDetails, contactRow } from './contact-row.ts';

/** Contacts that have just been made are in no group and have no conversation: neither is looked up, a thousand times. */
const UNREAD = { with_group_id: false, with_service_window: false };
const NOTHING_YET = { group_id: [], service_window: { open: false, expires_at: null } };

/** A row as GraphQL takes it, with what cannot be read of it. */
function readRow(value: unknown) {
  const errors = new FieldErrorList();
  const body = new Body(value, errors);
  const item = said({ ...contactDetails(body), phone: body.text('phone', 'phone_number') });
  // GraphQL refuses a whole batch for one wrong type. A row without anything is refused alone (it lacks a phone number), with
  // the same care for the transaction and the count of rows; the answer then gives our reasons.
  return errors.isEmpty ? { item, faults: undefined } : { item: {}, faults: errors.fields };
}

const INDEX = integer('Which row, counted from 0.');
const SENT = anything('The row as it was sent.');
const FAULTS = dictionary('Messages by field.');

const wireErrors = (errors: unknown): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors ?? {}).map(([path, messages]: [string, readonly string[]]) => [wirePath(path), messages]),
  );

export const contactBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/contacts/batch',
    document: CreateContactsDocument,
    bare: true,
    body: object({
      contacts: required(given('input.contacts')),
      options: object({
        continue_on_error: given('input.continueOnError'),
        skip_duplicates: given('input.skipDuplicates'),
      }),
    }),
    example: { contacts: [{ phone: '+14155550123', firstname: 'Ana' }], options: { skip_duplicates: true } },
    answer: object({
      success: selected('batch.success'),
      summary: object({
        total: selected('batch.total'),
        created: integer('How many were made.'),
        skipped: integer('How many duplicates were passed over.'),
        failed: integer('How many were not made.'),
      }),
      created: list(selected('batch.created', CONTACT), 'What was made.'),
      skipped: list(object({ index: INDEX, reason: selected('batch.skipped.reason'), data: SENT }), 'Duplicates.'),
      errors: list(object({ index: INDEX, data: SENT, errors: FAULTS }), 'Rows that were not made, and why.'),
    }),
    plan: call => {
      const body = call.body();
      const options = body.object('options');
      const given = body.list('contacts');
      const rows = given.map(readRow);
      const input = said({
        contacts: rows.map(row => row.item),
        continueOnError: options?.flag('continue_on_error') ?? true,
        skipDuplicates: options?.flag('skip_duplicates') ?? false,
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { input, ...UNREAD },
        respond: ({ batch: { success, total, created, skipped, errors } }) => ({
          message: '',
          data: {
            success,
            summary: { total, created: created.length, skipped: skipped.length, failed: errors.length },
            created: created.map(contact => ({ ...contactRow(contact), ...NOTHING_YET })),
            skipped: skipped.map(({ index, reason }) => ({ index, reason, data: given[index] })),
            errors: errors.map(row => ({
              index: row.index,
              data: given[row.index],
              errors: rows[row.index]?.faults ?? wireErrors(row.errors),
            })),
          },
        }),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/contacts/batch',
    document: DeleteContactsDocument,
    bare: true,
    body: object({ ids: required(list(id('A contact.'), '1 to 1,000 contacts.', { min: 1, max: 1_000 })) }),
    example: { ids: [1207, 1208] },
    answer: object({
      success: flag('Always true.'),
      summary: object({
        total: integer('How many different ids were given.'),
        deleted: integer('How many contacts are gone.'),
        failed: integer('How many ids were unknown.'),
      }),
    }),
    plan: call => {
      const body = call.body();
      const ids = [...new Set(body.ids('ids') ?? [])];
      if (call.errors.isEmpty && ids.length === 0) call.errors.add('ids', 'Is required.');
      return {
        variables: { ids },
        respond: ({ batch: { deletedIds, notFoundIds } }) => ({
          message: '',
          data: {
            success: true,
            summary: { total: ids.length, deleted: deletedIds.length, failed: notFoundIds.length },
          },
        }),
      };
    },
  }),
];
