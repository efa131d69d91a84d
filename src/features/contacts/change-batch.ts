import { CodedError, FieldErrorList } from '../../core/errors.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { withAllFaults } from './all-faults.ts';
import { type Batch, type BatchOptions, type BatchResult, refusalAt, runBatch, settle } from './batch.ts';
import { type ContactInput, type ContactRow, parseContact } from './contact.ts';
import { lockReferences } from './contacts.sql.ts';
import { parseGroupNames } from './labels/group-names.ts';
import { checkReferences, collectReferences, parseReferences } from './references.ts';
import { removeContacts } from './remove.ts';
import { findContacts } from './store.ts';
import { applyChange, type Change, NEVER_NULL } from './update.ts';

/** Each contact is locked, compared and written by itself: 500 take about a second. */
export const MAX_CHANGES = 500;

export interface UpdateContactsInput extends BatchOptions {
  /** As parsed: -1 for text that is no id. */
  readonly ids: readonly number[];
  readonly set: ContactInput;
}

/**
 * Sets the same values for up to 500 contacts, in one transaction. Phone number and e-mail address, which are unique, cannot be set.
 * @throws VALIDATION_ERROR for values that are not valid for any contact
 */
export async function updateContacts(context: Context, input: UpdateContactsInput): Promise<Batch> {
  try {
    return await update(context, input);
  } catch (error) {
    // Neither can be set.
    const { phone: _phone, email: _email, ...set } = input.set;
    throw await withAllFaults(context, error, set, { prefix: 'set.' });
  }
}

async function update(context: Context, input: UpdateContactsInput): Promise<Batch> {
  const tenantId = tenantOf(context);
  const { ids, set } = input;
  const errors = new FieldErrorList();
  checkIds(ids, MAX_CHANGES, errors);
  for (const field of ['phone', 'email'] as const)
    if (set[field] != null) errors.add(`set.${field}`, 'Cannot be set for several contacts.', 'SURPLUS');
  const fields = parseContact(set, errors, 'set.');
  errors.refuseNull(set, NEVER_NULL, 'set.');
  const names = set.groupNames && parseGroupNames(set.groupNames, errors, 'set.groupNames');
  errors.throwIfAny();
  const { secrets, clock } = context;
  const change = { input: set, fields, names, defaults: {}, author: authorOf(context), nowMs: clock.now(), secrets };
  const keyed = { operation: 'updateContacts', key: input.idempotencyKey, input };
  return runBatch(context, tenantId, keyed, async trx => {
    await requireReferences(trx, tenantId, set);
    return settle(await changeEach(context, trx, ids, change), input, 'ids');
  });
}

function checkIds(ids: readonly number[], maximum: number, errors: FieldErrorList): void {
  if (ids.length === 0) errors.add('ids', `Takes 1 to ${maximum} ids.`, 'REQUIRED');
  else if (ids.length > maximum) errors.add('ids', `Takes 1 to ${maximum} ids.`, 'TOO_MANY');
}

/** Checked once for the batch, so that a reference that does not exist is one error and not one for each contact. */
async function requireReferences(trx: Db, tenantId: number, set: ContactInput): Promise<void> {
  const references = parseReferences(tenantId, set);
  const errors = new FieldErrorList();
  checkReferences(references, await lockReferences(trx, tenantId, collectReferences([references])), errors, 'set.');
  errors.throwIfAny();
}

async function changeEach(
  context: Context,
  trx: Db,
  ids: readonly number[],
  change: Omit<Change, 'id'>,
): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  // In the order of the ids, to avoid deadlocks between batches.
  for (const [index, id] of [...ids.entries()].sort(([, a], [, b]) => a - b)) {
    const path = ['ids', String(index)];
    try {
      const contact = await applyChange(trx, callerOf(context), { ...change, id });
      results.push({ index, outcome: 'updated', contact, userErrors: [] });
    } catch (error) {
      // Any other error has aborted the transaction.
      if (!(error instanceof CodedError) || error.code !== 'NOT_FOUND') throw error;
      results.push({ index, outcome: 'failed', contact: null, userErrors: refusalAt(error, path) });
    }
  }
  return results.sort((a, b) => a.index - b.index);
}

const MAX_DELETIONS = 1_000;

export interface DeleteContactsInput extends BatchOptions {
  /** As parsed: -1 for text that is no id. */
  readonly ids: readonly number[];
}

/** Thrown to undo the transaction of a deletion, some of whose contacts do not exist. */
class SomeMissing extends Error {
  readonly found: ReadonlyMap<number, ContactRow>;

  constructor(found: ReadonlyMap<number, ContactRow>) {
    super('Some of the contacts do not exist.');
    this.found = found;
  }
}

/** Erases up to 1,000 contacts, as `eraseContacts` does. @throws VALIDATION_ERROR for no ids, or too many */
export async function deleteContacts(context: Context, input: DeleteContactsInput): Promise<Batch> {
  const { ids, onError, isDryRun, idempotencyKey } = input;
  const errors = new FieldErrorList();
  checkIds(ids, MAX_DELETIONS, errors);
  errors.throwIfAny();
  if (isDryRun) return unwritten(input, await findContacts(context.db.write, tenantOf(context), ids));
  // Only in the transaction, after the key: of a repetition the contacts are gone.
  const requireAll = (found: ReadonlyMap<number, ContactRow>): void => {
    if (ids.some(id => !found.has(id))) throw new SomeMissing(found);
  };
  try {
    const removed = await removeContacts(context, {
      operation: 'deleteContacts',
      ids,
      reason: 'other',
      idempotencyKey,
      ...(onError === 'roll_back' && { check: requireAll }),
    });
    return {
      results: deletionsOf(ids, removed.ids, 'deleted'),
      deletedIds: [...new Set(removed.ids.values())],
      isRolledBack: false,
    };
  } catch (error) {
    if (error instanceof SomeMissing) return unwritten(input, error.found);
    throw error;
  }
}

/** The result of a deletion that wrote nothing: a dry run, or one that was rolled back for an id that does not exist. */
function unwritten({ ids, onError }: DeleteContactsInput, found: ReadonlyMap<number, ContactRow>): Batch {
  const isRolledBack = onError === 'roll_back' && ids.some(id => !found.has(id));
  return { results: deletionsOf(ids, found, isRolledBack ? 'rolled_back' : 'deleted'), deletedIds: [], isRolledBack };
}

/** @param outcome of the ids that were found */
const deletionsOf = (
  ids: readonly number[],
  found: ReadonlyMap<number, unknown>,
  outcome: BatchResult['outcome'],
): BatchResult[] =>
  ids.map((id, index) =>
    found.has(id)
      ? { index, outcome, contact: null, userErrors: [] }
      : { index, outcome: 'failed', contact: null, userErrors: [missing(index)] },
  );

const missing = (index: number) => ({
  code: 'NOT_FOUND' as const,
  message: 'Contact not found.',
  path: ['ids', String(index)],
  details: {},
});
