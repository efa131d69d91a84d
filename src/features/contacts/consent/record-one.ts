import { FieldErrorList, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { MINUTE } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { findContacts } from '../store.ts';
import { type ConsentCategory, type ConsentSource, type ConsentState, evidenceFault } from './consent.ts';
import { recordConsent } from './record.ts';
import { type ConsentRow, findEntry, getEntries } from './store.ts';

export interface ConsentInput {
  readonly contactId: number;
  readonly category: ConsentCategory;
  readonly state: ConsentState;
  readonly source: ConsentSource;
  readonly evidence?: string | null | undefined;
  /** ISO; undefined: now. */
  readonly occurredAt?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Clocks of callers may be ahead by this much. */
const CLOCK_SKEW_MS = 5 * MINUTE;

/**
 * Records consent of one contact, by an API caller. The same entry again is stored once.
 * @throws NOT_FOUND; VALIDATION_ERROR for a time in the future, and for evidence that is too long
 */
export async function recordContactConsent(context: Context, input: ConsentInput): Promise<ConsentRow> {
  const tenantId = tenantOf(context);
  const nowMs = context.clock.now();
  const occurredAt = new Date(input.occurredAt == null ? nowMs : Date.parse(input.occurredAt)).toISOString();
  const evidence = input.evidence?.trim() || undefined;
  const errors = new FieldErrorList();
  const fault = evidence === undefined ? undefined : evidenceFault(evidence);
  if (fault) errors.add('evidence', fault.message, fault.code);
  if (Date.parse(occurredAt) > nowMs + CLOCK_SKEW_MS)
    errors.add('occurredAt', 'Must not be in the future.', 'OUT_OF_RANGE');
  errors.throwIfAny();
  const keyed = { operation: 'recordConsent', key: input.idempotencyKey, input };
  const entry = await once<ConsentRow>(context, keyed, {
    run: async trx => {
      const contact = (await findContacts(trx, tenantId, [input.contactId])).get(input.contactId);
      if (!contact) throw notFound('Contact', 'contactId');
      const { category, state, source } = input;
      const wanted = { contactId: contact.id, category, state, source, evidence, occurredAt };
      await recordConsent(trx, tenantId, [{ ...wanted, author: authorOf(context) }]);
      const stored = await findEntry(trx, tenantId, wanted);
      if (!stored) throw notFound('Contact');
      return stored;
    },
    store: ({ id }) => ({ entryId: id }),
    contactId: ({ contact_id }) => contact_id,
    rebuild: async stored => {
      const [existing] = await getEntries(context.db.write, tenantId, [(stored as { entryId: number }).entryId]);
      if (!existing) throw notFound('Contact');
      return existing;
    },
  });
  context.signals.send('events');
  return entry;
}
