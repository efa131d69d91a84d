import { CodedError, FieldErrorList, type FieldErrors, invalid } from '../../core/errors.ts';
import type { Tenant } from '../../core/principal.ts';
import { callerOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { type ContactFields, type ContactInput, type ContactRow, parseContact } from './contact.ts';
import { insertContacts, lockReferences } from './contacts.sql.ts';
import { EMAIL_TAKEN, newContact, PHONE_TAKEN } from './create.ts';
import { restoreOptOutsOf } from './erasure/erased-people.ts';
import { type ContactReferences, checkReferences, collectReferences, parseReferences } from './references.ts';
import { findTaken, lockContactQuota } from './store.ts';

export const MAX_BATCH = 1_000;

export interface CreateContactsInput {
  readonly contacts: readonly ContactInput[];
  readonly continueOnError?: boolean | null | undefined;
  readonly skipDuplicates?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

export interface CreateContactsResult {
  /** False when an error rolled everything back. */
  readonly success: boolean;
  readonly total: number;
  readonly created: readonly ContactRow[];
  readonly skipped: readonly { readonly index: number; readonly reason: string }[];
  readonly errors: readonly { readonly index: number; readonly errors: FieldErrors }[];
}

interface Row {
  readonly index: number;
  readonly fields: ContactFields;
  readonly references: ContactReferences;
  readonly errors: FieldErrorList;
  skip: boolean;
}

/** Thrown to roll the batch back; carries the result. */
class RolledBack extends Error {
  readonly result: CreateContactsResult;

  constructor(result: CreateContactsResult) {
    super('The batch was rolled back.');
    this.result = result;
  }
}

/**
 * Creates up to 1,000 contacts in one transaction. A phone number that exists in the tenant or earlier in the batch is skipped
 * with `skipDuplicates`, otherwise it is an error of `phone`. With `continueOnError` valid rows are kept, otherwise any error rolls the
 * batch back. The plan's limit is checked per row under the counter's lock.
 */
export async function createContacts(context: Context, input: CreateContactsInput): Promise<CreateContactsResult> {
  const { tenant } = callerOf(context);
  if (input.contacts.length === 0 || input.contacts.length > MAX_BATCH)
    throw invalid({ contacts: [`Takes 1 to ${MAX_BATCH} contacts.`] });
  try {
    const result = await once<CreateContactsResult>(
      context,
      { operation: 'createContacts', key: input.idempotencyKey, input },
      {
        run: trx => create(context, trx, tenant, input),
        store: outcome => outcome,
        again: async stored => stored as CreateContactsResult,
      },
    );
    context.signals.send('events');
    return result;
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    throw error;
  }
}

async function create(
  { secrets }: Context,
  trx: Db,
  tenant: Tenant,
  input: CreateContactsInput,
): Promise<CreateContactsResult> {
  // Locking the counter first serialises creations of a tenant, so that no duplicate appears between check and insert.
  const { remaining, used, maximum } = await lockContactQuota(trx, tenant.id);
  const rows = input.contacts.map((contact, index) => parseRow(contact, index));
  await findErrors(trx, tenant, rows, input.skipDuplicates ?? false);
  const valid = rows.filter(row => !row.skip && row.errors.isEmpty);
  for (const row of remaining === null ? [] : valid.slice(remaining)) {
    row.errors.add('contacts', `The plan allows ${maximum} contacts, ${used} are in use.`);
  }
  const accepted = remaining === null ? valid : valid.slice(0, remaining);
  const skipped = rows.filter(row => row.skip).map(({ index }) => ({ index, reason: PHONE_TAKEN }));
  const errors = rows
    .filter(row => !row.skip && !row.errors.isEmpty)
    .map(row => ({ index: row.index, errors: row.errors.fields }));
  if (errors.length > 0 && !(input.continueOnError ?? true)) {
    const undone = accepted.map(({ index }) => ({
      index,
      errors: { batch: ['Not created, because another row of the batch has an error.'] },
    }));
    const all = [...errors, ...undone].sort((a, b) => a.index - b.index);
    throw new RolledBack({ success: false, total: rows.length, created: [], skipped, errors: all });
  }
  const created = await insert(trx, tenant, accepted);
  await append(
    trx,
    tenant.id,
    created.map(contact => ({ type: 'contact.created', payload: { contact } })),
  );
  const kept = await restoreOptOutsOf(trx, secrets, tenant.id, created);
  return { success: true, total: rows.length, created: kept, skipped, errors };
}

function parseRow(contact: ContactInput, index: number): Row {
  const errors = new FieldErrorList();
  const fields = parseContact(contact, errors);
  if (contact.phone === undefined) errors.add('phone', 'Is required.');
  return { index, fields, references: parseReferences(contact), errors, skip: false };
}

async function findErrors(trx: Db, tenant: Tenant, rows: readonly Row[], skipDuplicates: boolean): Promise<void> {
  const found = await lockReferences(trx, tenant.id, collectReferences(rows.map(row => row.references)));
  const taken = await findTaken(
    trx,
    tenant.id,
    rows.flatMap(row => row.fields.phone_key ?? []),
    rows.flatMap(row => row.fields.email?.toLowerCase() ?? []),
  );
  for (const row of rows) {
    checkReferences(row.references, found, row.errors);
    const { phone_key: key, email } = row.fields;
    if (key !== undefined && taken.phoneKeys.has(key)) {
      // A duplicate is skipped regardless of other faults, because it is not created either way.
      if (skipDuplicates) row.skip = true;
      else row.errors.add('phone', PHONE_TAKEN);
    } else if (email && taken.emails.has(email.toLowerCase())) row.errors.add('email', EMAIL_TAKEN);
    if (row.skip || !row.errors.isEmpty) continue;
    if (key !== undefined) taken.phoneKeys.add(key);
    if (email) taken.emails.add(email.toLowerCase());
  }
}

async function insert(trx: Db, tenant: Tenant, rows: readonly Row[]): Promise<ContactRow[]> {
  const created = await insertContacts(
    trx,
    tenant.id,
    rows.map(row => newContact(tenant, row.fields, row.references)),
  );
  if (created.length !== rows.length)
    throw new CodedError('CONFLICT', 'Another request changed these contacts at the same time. Try again.');
  return created;
}
