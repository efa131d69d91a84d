import { FieldErrorList, notFound } from '../../../core/errors.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { type ContactInput, type ContactRow, FIELD_COLUMNS, FIELDS, parseContact } from '../contact.ts';
import { parseGroupNames } from '../labels/group-names.ts';
import { findContacts } from '../store.ts';
import { applyChange } from '../update.ts';
import { mergeContacts } from './merge.ts';
import { countMoved, type MovedCount } from './store.ts';
import { undoMerge } from './undo.ts';

export interface MergeInput {
  /** The contact that stays. */
  readonly id: number;
  /** The contacts that are merged into it. */
  readonly fromIds: readonly number[];
  /** The values that win. */
  readonly set?: ContactInput | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

export interface Merged {
  readonly contact: ContactRow;
  readonly mergedIds: readonly number[];
}

export const MAX_MERGED = 20;

/**
 * Merges contacts into one, for an API caller.
 * @throws NOT_FOUND; VALIDATION_ERROR if the surviving contact is also to be merged, or for invalid field values
 */
export async function mergeByRequest(context: Context, input: MergeInput): Promise<Merged> {
  const merged = await once<Merged>(
    context,
    { operation: 'mergeContacts', key: input.idempotencyKey, input },
    {
      run: trx => merge(context, trx, input),
      store: ({ contact, mergedIds }) => ({ id: contact.id, mergedIds }),
      contactId: ({ contact }) => contact.id,
      rebuild: async stored => {
        const { id, mergedIds } = stored as { id: number; mergedIds: number[] };
        return { contact: await requireContact(context.db.write, callerOf(context).tenant.id, id), mergedIds };
      },
    },
  );
  context.signals.send('events');
  return merged;
}

async function requireContact(db: Db, tenantId: number, id: number): Promise<ContactRow> {
  const contact = (await findContacts(db, tenantId, [id])).get(id);
  if (!contact) throw notFound('Contact');
  return contact;
}

async function merge(context: Context, trx: Db, { id, fromIds, set }: MergeInput): Promise<Merged> {
  const { tenant } = callerOf(context);
  const errors = new FieldErrorList();
  if (fromIds.length === 0) errors.add('fromIds', 'Is required.', 'REQUIRED');
  if (fromIds.length > MAX_MERGED) errors.add('fromIds', `May have at most ${MAX_MERGED} ids.`, 'TOO_MANY');
  const fields = parseContact(set ?? {}, errors, 'set.');
  const names = set?.groupNames && parseGroupNames(set.groupNames, errors, 'set.groupNames');
  errors.throwIfAny();
  const found = await findContacts(trx, tenant.id, [id, ...fromIds]);
  const survivor = found.get(id);
  if (!survivor) throw notFound('Contact');
  for (const [index, fromId] of fromIds.entries()) {
    const former = found.get(fromId);
    if (!former) errors.add(`fromIds.${index}`, 'Does not exist.', 'REFERENCE_NOT_FOUND');
    else if (former.id === survivor.id) errors.add(`fromIds.${index}`, 'Is the contact that stays.');
  }
  errors.throwIfAny();
  const mergedIds = [...new Set(fromIds.map(fromId => (found.get(fromId) as ContactRow).id))];
  const author = authorOf(context);
  const nowMs = context.clock.now();
  const contact = await mergeContacts(trx, tenant.id, {
    survivorId: survivor.id,
    ids: [survivor.id, ...mergedIds],
    reason: 'manual',
    author,
    nowMs,
  });
  if (!set) return { contact, mergedIds };
  const { secrets } = context;
  const change = { id: survivor.id, input: set, fields, names, defaults: {}, author, nowMs, secrets };
  return { contact: await applyChange(trx, callerOf(context), change), mergedIds };
}

/** Value of a field after a merge, with the other values of the contacts. */
export interface MergedField {
  /** As in `ContactInput`. */
  readonly name: string;
  readonly value: string | null;
  readonly alternatives: readonly string[];
}

export interface MergePreview {
  readonly fields: readonly MergedField[];
  readonly moved: readonly MovedCount[];
}

/** Thrown to undo the merge of a preview; carries the result. */
class Previewed extends Error {
  readonly preview: MergePreview;

  constructor(preview: MergePreview) {
    super('The merge was undone.');
    this.preview = preview;
  }
}

/** Dry run of a merge: executes it and rolls back. @throws as `mergeByRequest` */
export async function previewMerge(context: Context, input: MergeInput): Promise<MergePreview> {
  const { tenant } = callerOf(context);
  try {
    await context.db.transaction(async trx => {
      const before = [...(await findContacts(trx, tenant.id, [input.id, ...input.fromIds])).values()];
      const { contact, mergedIds } = await merge(context, trx, input);
      throw new Previewed({
        fields: FIELD_COLUMNS.map(column => fieldOf(column, contact, before)),
        moved: await countMoved(trx, tenant.id, mergedIds),
      });
    });
  } catch (error) {
    if (error instanceof Previewed) return error.preview;
    throw error;
  }
  throw new Error('The merge of a preview was not undone.');
}

function fieldOf(
  column: (typeof FIELD_COLUMNS)[number],
  after: ContactRow,
  before: readonly ContactRow[],
): MergedField {
  const textOf = (contact: ContactRow): string | null => {
    const value = contact[column];
    return value === null || value === '' ? null : String(value);
  };
  const value = textOf(after);
  const alternatives = new Set(before.flatMap(contact => textOf(contact) ?? []));
  if (value !== null) alternatives.delete(value);
  return { name: FIELDS[column].name, value, alternatives: [...alternatives] };
}

/** Undoes a merge, for an API caller. @param id one of the `formerIds` of a contact. @returns the restored contact. @throws as `undoMerge` */
export async function undoByRequest(
  context: Context,
  { id, idempotencyKey }: { readonly id: number; readonly idempotencyKey?: string | null | undefined },
): Promise<ContactRow> {
  const tenantId = callerOf(context).tenant.id;
  const contact = await once<ContactRow>(
    context,
    { operation: 'undoMerge', key: idempotencyKey, input: { id } },
    {
      run: trx => undoMerge(trx, tenantId, id, { author: authorOf(context), nowMs: context.clock.now() }),
      store: () => ({ id }),
      contactId: () => id,
      rebuild: () => requireContact(context.db.write, tenantId, id),
    },
  );
  context.signals.send('events');
  return contact;
}
