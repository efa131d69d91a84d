import type { Context } from '../../context.ts';
import { FieldErrorList, invalid, notFound } from '../../errors.ts';
import { append, type NewEvent } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { differs } from '../../platform/differs.ts';
import { violationOf } from '../../platform/violations.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { parseGroupNames } from '../labels/group-names.ts';
import { groupsNamed } from '../labels/groups-named.ts';
import { CONTACT_COLUMNS, type ContactInput, type ContactRow, type PublicContact, parseContact } from './contact.ts';
import { EMAIL_TAKEN, PHONE_TAKEN } from './create.ts';
import { type ContactReferences, checkReferences, parseReferences, wantedReferences } from './references.ts';
import {
  type ContactUpdate,
  getContacts,
  holdReferences,
  lockContact,
  type References,
  setGroups,
  updateContact,
} from './store.ts';

export type UpdateContactInput = ContactInput & {
  readonly isOptedOut?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
};

/** What becomes of the source and the status where the caller says nothing of them. */
export type Defaults = Pick<ContactReferences, 'source_id' | 'status_id'>;

/**
 * Changes what is given of a contact. What changes nothing leaves it as it is, with its time, and is no event.
 * @param operation the mutation that idempotency keys belong to
 * @param defaults without them, what is not given stays
 * @throws NOT_FOUND, VALIDATION_ERROR by field
 */
export async function changeContact(
  context: Context,
  id: number,
  input: UpdateContactInput,
  operation = 'updateContact',
  defaults: Defaults = {},
): Promise<ContactRow> {
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors);
  const names = input.groupNames && parseGroupNames(input.groupNames, errors, 'groupNames');
  errors.throwIfAny();
  const change = { id, input, fields, names, defaults, nowMs: context.clock.now() };
  const contact = await once(
    context,
    { operation, key: input.idempotencyKey, input: { ...input, id } },
    {
      run: trx => apply(trx, tenantId, change),
      store: () => ({ id }),
      again: async () => {
        const [existing] = await getContacts(context.db.write, tenantId, [id]);
        if (!existing) throw notFound('Contact');
        return existing;
      },
    },
  );
  context.signals.send('events');
  return contact;
}

interface Change {
  readonly id: number;
  readonly input: UpdateContactInput;
  readonly fields: ContactUpdate;
  /** Of groups. */
  readonly names: readonly string[] | null | undefined;
  readonly defaults: Defaults;
  readonly nowMs: number;
}

async function apply(
  trx: Db,
  tenantId: number,
  { id, input, fields, names, defaults, nowMs }: Change,
): Promise<ContactRow> {
  const before = await lockContact(trx, tenantId, id);
  if (!before) throw notFound('Contact');
  const { groups, ...references } = parseReferences(input);
  const errors = new FieldErrorList();
  const wanted = { ...references, ...(groups && { groups }) };
  const found = await holdReferences(trx, tenantId, wantedReferences([wanted, defaults]));
  checkReferences(wanted, found, errors);
  errors.throwIfAny();
  const named = names ? await groupsNamed(trx, tenantId, names) : [];
  const values = {
    ...fields,
    ...stillThere(defaults, found),
    ...references,
    ...optOut(before, input.isOptedOut, nowMs),
  };
  const isRegrouped = groups || names ? await setGroups(trx, tenantId, id, [...(groups ?? []), ...named]) : false;
  // The number's key is made of the number, and no column that a row shows.
  const { phone_key: _key, ...shown } = values;
  if (!isRegrouped && !differs(before, shown)) return before;
  const after = await updated(trx, tenantId, id, values);
  await append(trx, tenantId, changeEvents(before, after));
  return after;
}

/** Defaults come from what a process remembers of the tenant: one that has meanwhile been deleted is none. */
const stillThere = ({ source_id, status_id }: Defaults, found: References): Defaults => ({
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

/** A conflict spoils the transaction; it ends with it, and the caller learns which field it was. */
async function updated(trx: Db, tenantId: number, id: number, fields: ContactUpdate): Promise<ContactRow> {
  try {
    const row = await updateContact(trx, tenantId, id, fields);
    if (!row) throw notFound('Contact');
    return row;
  } catch (error) {
    const constraint = violationOf(error)?.constraint;
    if (constraint === 'contacts_phone_key') throw invalid({ phone: [PHONE_TAKEN] });
    if (constraint === 'contacts_email_key') throw invalid({ email: [EMAIL_TAKEN] });
    throw error;
  }
}

export function changeEvents(before: ContactRow, after: ContactRow): NewEvent[] {
  const previous: Record<string, unknown> = {};
  for (const column of CONTACT_COLUMNS)
    if (column !== 'updated_at' && before[column] !== after[column]) previous[column] = before[column];
  const events: NewEvent[] = [
    { type: 'contact.updated', payload: { contact: after, previous: previous as Partial<PublicContact> } },
  ];
  if ('opted_out_at' in previous) {
    events.push({
      type: after.opted_out_at === null ? 'contact.opted_in' : 'contact.opted_out',
      payload: { contact: after },
    });
  }
  return events;
}
