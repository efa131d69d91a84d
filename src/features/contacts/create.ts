import type { Context, Tenant } from '../../context.ts';
import { CodedError, FieldErrorList, notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { violationOf } from '../../platform/violations.ts';
import { callerOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { parseGroupNames } from '../labels/group-names.ts';
import { groupsNamed } from '../labels/groups-named.ts';
import { type ContactInput, type ContactRow, parseContact } from './contact.ts';
import { type ContactReferences, checkReferences, parseReferences, wantedReferences } from './references.ts';
import {
  findTaken,
  getContacts,
  holdReferences,
  insertContacts,
  lockRoom,
  type NewContact,
  setGroups,
} from './store.ts';

export type CreateContactInput = ContactInput & {
  readonly isOptedOut?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
};

export const PHONE_TAKEN = 'Another contact has this phone number.';
export const EMAIL_TAKEN = 'Another contact has this e-mail address.';

/**
 * Makes a contact. Only the phone number is required.
 * @throws VALIDATION_ERROR by field, FEATURE_LIMIT_EXCEEDED when the plan's contacts are used up
 */
export async function createContact(context: Context, input: CreateContactInput): Promise<ContactRow> {
  const { tenant } = callerOf(context);
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors);
  const names = parseGroupNames(input.groupNames ?? [], errors, 'groupNames');
  const references = parseReferences(input);
  const optedOutAt = input.isOptedOut ? new Date(context.clock.now()).toISOString() : null;
  if (input.phone === undefined) errors.add('phone', 'Is required.');
  errors.throwIfAny();
  const contact = await once(
    context,
    { operation: 'createContact', key: input.idempotencyKey, input },
    {
      run: async trx => {
        checkReferences(references, await holdReferences(trx, tenant.id, wantedReferences([references])), errors);
        errors.throwIfAny();
        await requireRoom(trx, tenant);
        // Behind the counter, as whoever makes a group for a contact that is there has locked that contact before.
        const named = await groupsNamed(trx, tenant.id, names);
        const contact = { ...newContact(tenant, fields, references), opted_out_at: optedOutAt };
        const [created] = await insertContacts(trx, tenant.id, [contact]);
        if (!created) throw await duplicate(trx, tenant.id, fields.phone_key, fields.email);
        const groups = [...(references.groups ?? []), ...named];
        if (groups.length > 0) await setGroups(trx, tenant.id, created.id, groups);
        await append(trx, tenant.id, [{ type: 'contact.created', payload: { contact: created } }]);
        return created;
      },
      store: created => ({ id: created.id }),
      again: async stored => {
        const [existing] = await getContacts(context.db.write, tenant.id, [(stored as { id: number }).id]);
        if (!existing) throw notFound('Contact');
        return existing;
      },
    },
  );
  context.signals.send('events');
  return contact;
}

/** What is not said of a new contact is the tenant's default. */
export const newContact = (
  tenant: Pick<Tenant, 'defaultSourceId' | 'defaultStatusId'>,
  fields: ReturnType<typeof parseContact>,
  references: ContactReferences,
): NewContact => ({
  ...fields,
  source_id: references.source_id === undefined ? tenant.defaultSourceId : references.source_id,
  status_id: references.status_id === undefined ? tenant.defaultStatusId : references.status_id,
  assigned_id: references.assigned_id ?? null,
});

/** Locks the counter first: the limit is then known exactly, and the transaction is not spoilt by a broken constraint. @throws FEATURE_LIMIT_EXCEEDED */
async function requireRoom(trx: Db, tenant: Tenant): Promise<void> {
  const { room, used, maximum } = await lockRoom(trx, tenant.id);
  if (room !== null && room < 1) throw limitExceeded(used, maximum);
}

export const limitExceeded = (used: number | null, maximum: number | null): CodedError =>
  new CodedError('FEATURE_LIMIT_EXCEEDED', 'The plan has no room for another contact.', {
    feature: 'contacts',
    current: used,
    maximum,
  });

export const isLimitViolation = (error: unknown): boolean => violationOf(error)?.constraint === 'contacts_within_plan';

async function duplicate(
  trx: Db,
  tenantId: number,
  phoneKey: string | undefined,
  email: string | null | undefined,
): Promise<Error> {
  const errors = new FieldErrorList();
  const taken = await findTaken(trx, tenantId, phoneKey ? [phoneKey] : [], email ? [email.toLowerCase()] : []);
  if (phoneKey && taken.phoneKeys.has(phoneKey)) errors.add('phone', PHONE_TAKEN);
  if (email && taken.emails.has(email.toLowerCase())) errors.add('email', EMAIL_TAKEN);
  return new CodedError('VALIDATION_ERROR', 'This contact exists already.', errors.fields);
}
