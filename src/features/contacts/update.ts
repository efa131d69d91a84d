import type { Author } from '../../core/author.ts';
import { conflict, FieldErrorList, invalid, notFound } from '../../core/errors.ts';
import type { Principal } from '../../core/principal.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { violationOf } from '../../database/violations.ts';
import { append } from '../../events/append.ts';
import { differs } from '../../platform/differs.ts';
import { phoneKey } from '../../platform/phone.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { withAllFaults } from './all-faults.ts';
import { recordApiConsent } from './consent/record.ts';
import {
  type ContactInput,
  type ContactRow,
  EMAIL_TAKEN,
  FIELDS,
  type FieldName,
  PHONE_TAKEN,
  parseContact,
} from './contact.ts';
import { lockReferences, type References, setGroups } from './contacts.sql.ts';
import { restoreOptOutsOf } from './erasure/erased-people.ts';
import { changeEvents } from './events.ts';
import { parseGroupNames, resolveGroupNames } from './labels/group-names.ts';
import { type ContactReferences, checkReferences, collectReferences, parseReferences } from './references.ts';
import {
  type ContactUpdate,
  findContacts,
  findNumberHolders,
  lockContact,
  lockContactQuota,
  unassignSome,
  updateContact,
} from './store.ts';

/** Fields that a change cannot clear; a phone number is refused by `parseContact`. */
export const NEVER_NULL = ['type', 'isOptedOut'] as const satisfies readonly (keyof ContactInput)[];

export type UpdateContactInput = ContactInput & {
  /** The `updated_at` that the caller has read; a contact that changed since is not changed. */
  readonly unchangedSince?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
};

/** Source and status to set if the input leaves them out. */
export type Defaults = Pick<ContactReferences, 'source_id' | 'status_id'>;

/**
 * Updates the given fields of a contact. An update without effect changes neither `updated_at` nor the log.
 * @param operation the mutation that idempotency keys belong to
 * @param defaults values for source and status if not given; otherwise they stay
 * @throws NOT_FOUND, VALIDATION_ERROR with all faults by field, CONFLICT with the contact as `current` if it changed since the caller read it;
 *   INSUFFICIENT_SCOPE without groups:write if a group must be created
 */
export async function changeContact(
  context: Context,
  id: number,
  input: UpdateContactInput,
  operation = 'updateContact',
  defaults: Defaults = {},
): Promise<ContactRow> {
  try {
    return await change(context, id, input, operation, defaults);
  } catch (error) {
    throw await withAllFaults(context, error, input, { id });
  }
}

async function change(
  context: Context,
  id: number,
  input: UpdateContactInput,
  operation: string,
  defaults: Defaults,
): Promise<ContactRow> {
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors);
  errors.refuseNull(input, NEVER_NULL);
  const names = input.groupNames && parseGroupNames(input.groupNames, errors, 'groupNames');
  errors.throwIfAny();
  const { secrets, clock } = context;
  const parsed = { id, input, fields, names, defaults, author: authorOf(context), nowMs: clock.now(), secrets };
  const contact = await once(
    context,
    { operation, key: input.idempotencyKey, input: { ...input, id } },
    {
      run: trx => applyChange(trx, callerOf(context), parsed),
      store: () => ({ id }),
      contactId: () => id,
      rebuild: async () => {
        const existing = (await findContacts(context.db.write, tenantId, [id])).get(id);
        if (!existing) throw notFound('Contact');
        return existing;
      },
    },
  );
  context.signals.send('events');
  return contact;
}

/** Fields that a replacement requires, or that have defaults. */
const NEVER_EMPTY: ReadonlySet<FieldName> = new Set(['firstName', 'phone', 'type', 'sourceId', 'statusId']);

/** Values of fields left out by a replacement. */
const EMPTY_FIELDS: UpdateContactInput = {
  ...Object.fromEntries(
    Object.values(FIELDS)
      .filter(({ name }) => !NEVER_EMPTY.has(name))
      .map(({ name }) => [name, null]),
  ),
  groupIds: [],
};

/**
 * Replaces all fields of a contact: those left out become empty, source and status the tenant's defaults. An opt-out is kept
 * unless given, so that omitting a field cannot revoke it.
 *
 * @throws NOT_FOUND, VALIDATION_ERROR by field
 */
export function replaceContact(context: Context, id: number, input: UpdateContactInput): Promise<ContactRow> {
  const { defaultSourceId, defaultStatusId } = callerOf(context).tenant;
  return changeContact(context, id, { ...EMPTY_FIELDS, ...input }, 'replaceContact', {
    source_id: defaultSourceId,
    status_id: defaultStatusId,
  });
}

/** A change of one contact, parsed. */
export interface Change {
  readonly id: number;
  readonly input: UpdateContactInput;
  readonly fields: ContactUpdate;
  /** Group names. */
  readonly names: readonly string[] | null | undefined;
  readonly defaults: Defaults;
  readonly author: Author;
  readonly nowMs: number;
  readonly secrets: Context['secrets'];
}

/** @throws CONFLICT with the contact as `current` if it changed since */
export function requireUnchanged(contact: ContactRow, since: string | null | undefined): void {
  if (since != null && Date.parse(contact.updated_at) !== Date.parse(since))
    throw conflict('The contact was changed by another request. Read it again.', {
      current: { ...contact, __typename: 'Contact' },
    });
}

export async function applyChange(
  trx: Db,
  principal: Principal,
  { id, input, fields, names, defaults, author, nowMs, secrets }: Change,
): Promise<ContactRow> {
  const { id: tenantId } = principal.tenant;
  // Lock order: tenant_usage before contacts, to avoid deadlocks with recognition.
  if (fields.phone !== undefined) await lockContactQuota(trx, tenantId);
  const before = await lockContact(trx, tenantId, id);
  if (!before) throw notFound('Contact');
  requireUnchanged(before, input.unchangedSince);
  const currentId = before.id;
  const { groups, ...references } = parseReferences(tenantId, input);
  const errors = new FieldErrorList();
  const wanted = { ...references, ...(groups && { groups }) };
  const found = await lockReferences(trx, tenantId, collectReferences([wanted, defaults]));
  checkReferences(wanted, found, errors);
  errors.throwIfAny();
  await checkNumber(trx, tenantId, before, fields.phone_key);
  const named = names ? await resolveGroupNames(trx, principal, names) : [];
  const values = {
    ...fields,
    ...existingDefaults(defaults, found),
    ...references,
    ...optOut(before, input.isOptedOut, nowMs),
  };
  const isRegrouped =
    groups || names ? await setGroups(trx, tenantId, currentId, [...(groups ?? []), ...named]) : false;
  // phone_key is derived from the phone and not part of a row.
  const { phone_key: _key, ...shown } = values;
  if (!isRegrouped && !differs(before, shown)) return before;
  const after = await writeUpdate(trx, tenantId, currentId, values);
  const isConsentChange = before.opted_out_at !== after.opted_out_at;
  await append(trx, tenantId, [
    ...changeEvents(before, after),
    ...(isConsentChange ? await recordApiConsent(trx, tenantId, after, author, new Date(nowMs).toISOString()) : []),
  ]);
  if (after.phone === before.phone) return after;
  return (await restoreOptOutsOf(trx, secrets, tenantId, [after]))[0] ?? after;
}

/** @throws VALIDATION_ERROR if the new number is a current identity of another contact */
async function checkNumber(trx: Db, tenantId: number, before: ContactRow, key: string | undefined): Promise<void> {
  if (key === undefined || (before.phone !== null && phoneKey(before.phone) === key)) return;
  const holder = (await findNumberHolders(trx, tenantId, [key])).get(key);
  if (holder !== undefined && holder !== before.id) throw invalid({ phone: [PHONE_TAKEN] }, 'TAKEN');
}

/** Defaults come from a cache; deleted references are ignored. */
const existingDefaults = ({ source_id, status_id }: Defaults, found: References): Defaults => ({
  ...(source_id !== undefined && { source_id: found.sources.find(id => id === source_id) ?? null }),
  ...(status_id !== undefined && { status_id: found.statuses.find(id => id === status_id) ?? null }),
});

const optOut = (
  before: ContactRow,
  wanted: boolean | null | undefined,
  nowMs: number,
): Pick<ContactUpdate, 'opted_out_at'> => {
  if (wanted == null || wanted === (before.opted_out_at !== null)) return {};
  return { opted_out_at: wanted ? new Date(nowMs).toISOString() : null };
};

/** A unique violation aborts the transaction and is reported by field. */
async function writeUpdate(trx: Db, tenantId: number, id: number, fields: ContactUpdate): Promise<ContactRow> {
  try {
    const row = await updateContact(trx, tenantId, id, fields);
    if (!row) throw notFound('Contact');
    return row;
  } catch (error) {
    const constraint = violationOf(error)?.constraint;
    if (constraint === 'contacts_phone_key') throw invalid({ phone: [PHONE_TAKEN] }, 'TAKEN');
    if (constraint === 'contacts_email_key') throw invalid({ email: [EMAIL_TAKEN] }, 'TAKEN');
    throw error;
  }
}

/** Unassigns a staff member from the next `limit` contacts, in the caller's transaction. @returns their number */
export async function unassignContacts(trx: Db, tenantId: number, staffId: number, limit: number): Promise<number> {
  const contacts = await unassignSome(trx, tenantId, staffId, limit);
  const previous = { assigned_id: staffId };
  await append(
    trx,
    tenantId,
    contacts.map(contact => ({ type: 'contact.updated', payload: { contact, previous } })),
  );
  return contacts.length;
}
