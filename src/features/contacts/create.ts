import { CodedError, conflict, FieldErrorList, notFound } from '../../core/errors.ts';
import type { Tenant } from '../../core/principal.ts';
import { callerOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { withAllFaults } from './all-faults.ts';
import type { NewContactRow } from './columns.ts';
import { recordApiConsent } from './consent/record.ts';
import { type ContactInput, type ContactRow, EMAIL_TAKEN, PHONE_TAKEN, parseContact } from './contact.ts';
import { insertContacts, lockReferences, setGroups } from './contacts.sql.ts';
import { restoreOptOutsOf } from './erasure/erased-people.ts';
import { parseGroupNames, resolveGroupNames } from './labels/group-names.ts';
import { type ContactReferences, checkReferences, collectReferences, parseReferences } from './references.ts';
import { findContacts, findNumberHolders, findTaken, lockContactQuota } from './store.ts';

export type CreateContactInput = ContactInput & {
  readonly idempotencyKey?: string | null | undefined;
};

/**
 * Creates a contact. Only the phone number is required.
 * @throws VALIDATION_ERROR with all faults by field, FEATURE_LIMIT_EXCEEDED if the plan's limit is reached; INSUFFICIENT_SCOPE without
 *   groups:write if a group must be created
 */
export async function createContact(context: Context, input: CreateContactInput): Promise<ContactRow> {
  try {
    return await create(context, input);
  } catch (error) {
    throw await withAllFaults(context, error, input);
  }
}

async function create(context: Context, input: CreateContactInput): Promise<ContactRow> {
  const principal = callerOf(context);
  const { tenant } = principal;
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors);
  const names = parseGroupNames(input.groupNames ?? [], errors, 'groupNames');
  const references = parseReferences(tenant.id, input);
  const optedOutAt = input.isOptedOut ? new Date(context.clock.now()).toISOString() : null;
  if (input.phone === undefined) errors.add('phone', 'Is required.', 'REQUIRED');
  errors.throwIfAny();
  const contact = await once(
    context,
    { operation: 'createContact', key: input.idempotencyKey, input },
    {
      run: async trx => {
        checkReferences(references, await lockReferences(trx, tenant.id, collectReferences([references])), errors);
        errors.throwIfAny();
        await requireContactQuota(trx, tenant);
        // After the counter: lock order is tenant_usage, contacts, groups.
        const named = await resolveGroupNames(trx, principal, names);
        if (await isNumberInUse(trx, tenant.id, fields.phone_key))
          throw await duplicate(trx, tenant.id, fields.phone_key, fields.email);
        const contact = { ...newContact(tenant, fields, references), opted_out_at: optedOutAt };
        const [created] = await insertContacts(trx, tenant.id, [contact]);
        if (!created) throw await duplicate(trx, tenant.id, fields.phone_key, fields.email);
        const groups = [...(references.groups ?? []), ...named];
        if (groups.length > 0) await setGroups(trx, tenant.id, created.id, groups);
        const consentEvents =
          optedOutAt === null ? [] : await recordApiConsent(trx, tenant.id, created, authorOf(context), optedOutAt);
        await append(trx, tenant.id, [{ type: 'contact.created', payload: { contact: created } }, ...consentEvents]);
        return (await restoreOptOutsOf(trx, context.secrets, tenant.id, [created]))[0] ?? created;
      },
      store: created => ({ id: created.id }),
      contactId: created => created.id,
      rebuild: async stored => {
        const { id } = stored as { id: number };
        const existing = (await findContacts(context.db.write, tenant.id, [id])).get(id);
        if (!existing) throw notFound('Contact');
        return existing;
      },
    },
  );
  context.signals.send('events');
  return contact;
}

/** Source and status default to the tenant's. */
export const newContact = (
  tenant: Pick<Tenant, 'defaultSourceId' | 'defaultStatusId'>,
  fields: ReturnType<typeof parseContact>,
  references: ContactReferences,
): NewContactRow => ({
  ...fields,
  source_id: references.source_id === undefined ? tenant.defaultSourceId : references.source_id,
  status_id: references.status_id === undefined ? tenant.defaultStatusId : references.status_id,
  assigned_id: references.assigned_id ?? null,
});

/** Checks the limit under the counter's lock, so that a constraint violation does not abort the transaction. @throws FEATURE_LIMIT_EXCEEDED */
async function requireContactQuota(trx: Db, tenant: Tenant): Promise<void> {
  const { remaining, used, maximum } = await lockContactQuota(trx, tenant.id);
  if (remaining !== null && remaining < 1) throw limitExceeded(used, maximum);
}

const limitExceeded = (used: number | null, maximum: number | null): CodedError =>
  new CodedError('FEATURE_LIMIT_EXCEEDED', 'The plan has no room for another contact.', {
    details: { feature: 'contacts', current: used, maximum },
  });

/** The error for exceeding the plan's contact limit, with current counts; undefined if there is room. For features that create contacts. */
export async function contactRefusal(db: Db, tenantId: number): Promise<CodedError | undefined> {
  const { remaining, used, maximum } = await lockContactQuota(db, tenantId);
  return remaining !== null && remaining < 1 ? limitExceeded(used, maximum) : undefined;
}

/** Whether a contact has the number as a current identity. Call it under the counter's lock, which serialises identity changes. */
const isNumberInUse = async (trx: Db, tenantId: number, phoneKey: string | undefined): Promise<boolean> =>
  phoneKey !== undefined && (await findNumberHolders(trx, tenantId, [phoneKey])).size > 0;

async function duplicate(
  trx: Db,
  tenantId: number,
  phoneKey: string | undefined,
  email: string | null | undefined,
): Promise<Error> {
  const errors = new FieldErrorList();
  const taken = await findTaken(trx, tenantId, phoneKey ? [phoneKey] : [], email ? [email.toLowerCase()] : []);
  if (phoneKey && taken.phoneKeys.has(phoneKey)) errors.add('phone', PHONE_TAKEN, 'TAKEN');
  if (email && taken.emails.has(email.toLowerCase())) errors.add('email', EMAIL_TAKEN, 'TAKEN');
  if (errors.isEmpty) return conflict('Another request changed this contact at the same time. Try again.');
  return errors.toError('This contact exists already.');
}
