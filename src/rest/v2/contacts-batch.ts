import { FieldErrorList, type FieldErrors } from '../../errors.ts';
import { Body, said } from '../body.ts';
import type { Shown } from '../query.ts';
import { type Route, route } from '../route.ts';
import { wirePath } from '../wire-names.ts';
import { CONTACT_FIELDS, contactConditions, contactDetails, contactRow } from './contact-row.ts';
import { CreateContactsDocument, DeleteContactsDocument } from './documents.generated.ts';

/** Contacts that have just been made are in no group and have no conversation: neither is looked up, a thousand times. */
const UNREAD: ReadonlySet<string> = new Set(['groups', 'group_id', 'service_window']);
const fresh: Shown = { shows: field => !UNREAD.has(field) && CONTACT_FIELDS.everything.shows(field), pick: row => row };
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

const wireErrors = (errors: unknown): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors ?? {}).map(([path, messages]: [string, readonly string[]]) => [wirePath(path), messages]),
  );

export const contactBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/contacts/batch',
    document: CreateContactsDocument,
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
        variables: { input, ...contactConditions(fresh) },
        respond: ({ batch: { success, total, created, skipped, errors } }) => ({
          bare: true,
          message: '',
          data: {
            success,
            summary: { total, created: created.length, skipped: skipped.length, failed: errors.length },
            created: created.map(contact => ({ ...contactRow(contact, fresh), ...NOTHING_YET })),
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
    plan: call => {
      const body = call.body();
      const ids = [...new Set(body.ids('ids') ?? [])];
      if (call.errors.isEmpty && ids.length === 0) call.errors.add('ids', 'Is required.');
      return {
        variables: { ids },
        respond: ({ batch: { deletedIds, notFoundIds } }) => ({
          bare: true,
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
