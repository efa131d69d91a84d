import type { Context } from '../../context.ts';
import { FieldErrorList, invalid, notFound } from '../../errors.ts';
import { append, type NewEvent } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { violationOf } from '../../platform/violations.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { CONTACT_COLUMNS, type ContactInput, type ContactRow, type PublicContact, parseContact } from './contact.ts';
import { EMAIL_TAKEN, PHONE_TAKEN } from './create.ts';
import { checkReferences, parseReferences, wantedReferences } from './references.ts';
import { type ContactUpdate, getContacts, holdReferences, lockContact, setGroups, updateContact } from './store.ts';

export type UpdateContactInput = ContactInput & {
  readonly isOptedOut?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
};

/** Changes what is given of a contact. @throws NOT_FOUND, VALIDATION_ERROR by field */
export async function changeContact(context: Context, id: number, input: UpdateContactInput): Promise<ContactRow> {
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseContact(input, errors);
  errors.throwIfAny();
  const contact = await once(
    context,
    { operation: 'updateContact', key: input.idempotencyKey, input: { ...input, id } },
    {
      run: trx => change(trx, tenantId, id, input, fields, context.clock.now()),
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

async function change(
  trx: Db,
  tenantId: number,
  id: number,
  input: UpdateContactInput,
  fields: ContactUpdate,
  nowMs: number,
): Promise<ContactRow> {
  const before = await lockContact(trx, tenantId, id);
  if (!before) throw notFound('Contact');
  const { groups, ...references } = parseReferences(input);
  const errors = new FieldErrorList();
  const wanted = { ...references, ...(groups && { groups }) };
  checkReferences(wanted, await holdReferences(trx, tenantId, wantedReferences([wanted])), errors);
  errors.throwIfAny();
  const after = await updated(trx, tenantId, id, {
    ...fields,
    ...references,
    ...optOut(before, input.isOptedOut, nowMs),
  });
  if (groups) await setGroups(trx, tenantId, id, groups);
  await append(trx, tenantId, changeEvents(before, after));
  return after;
}

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
