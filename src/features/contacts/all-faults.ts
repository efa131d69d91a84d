import { CodedError, FieldErrorList } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import { phoneKey } from '../../platform/phone.ts';
import type { Context } from '../../schema/context.ts';
import { type ContactFields, type ContactInput, EMAIL_TAKEN, PHONE_TAKEN, parseContact } from './contact.ts';
import { parseGroupNames } from './labels/group-names.ts';
import { checkReferences, collectReferences, findContactReferences, parseReferences } from './references.ts';
import { findContacts, findEmailHolder, findNumberHolders } from './store.ts';

interface Given {
  /** Of the contact that is changed; undefined for a new one. */
  readonly id?: number;
  /** Stands before the names of the contact's fields. */
  readonly prefix?: string;
}

/**
 * Adds the remaining faults of a contact's input to the error of a failed write. A write checks step by step (formats, references,
 * unique values) and stops at the first step that fails; this runs the other steps too. Called only after an error, so that valid
 * input costs no extra statements.
 * @param error what writing threw; returned as it is unless it is about fields, or the write was only rehearsed
 */
export async function withAllFaults(
  context: Context,
  error: unknown,
  input: ContactInput,
  { id, prefix = '' }: Given = {},
): Promise<unknown> {
  if (!(error instanceof CodedError) || (error.faults.length === 0 && !context.isRehearsal)) return error;
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors, prefix);
  parseGroupNames(input.groupNames ?? [], errors, `${prefix}groupNames`);
  const references = parseReferences(tenantId, input);
  const found = await findContactReferences(context.db.read, tenantId, collectReferences([references]));
  checkReferences(references, found, errors, prefix);
  await checkUnique(context, fields, id, errors);
  const all = new FieldErrorList();
  all.include([...error.faults, ...errors.faults]);
  return all.isEmpty ? error : all.toError(error.faults.length > 0 ? error.message : undefined);
}

async function checkUnique(
  { db, principal }: Context,
  { phone, email }: ContactFields,
  id: number | undefined,
  errors: FieldErrorList,
): Promise<void> {
  if (phone === undefined && !email) return;
  const tenantId = tenantOf({ principal });
  // The id of a merged contact finds the survivor.
  const own = id === undefined ? undefined : (await findContacts(db.read, tenantId, [id])).get(id)?.id;
  const key = phone === undefined ? undefined : phoneKey(phone);
  const holder = key === undefined ? undefined : (await findNumberHolders(db.read, tenantId, [key])).get(key);
  if (holder !== undefined && holder !== own) errors.add('phone', PHONE_TAKEN, 'TAKEN');
  const owner = email ? await findEmailHolder(db.read, tenantId, email) : undefined;
  if (owner !== undefined && owner !== own) errors.add('email', EMAIL_TAKEN, 'TAKEN');
}
