import { CodedError, conflict, type FieldErrors, notFound } from '../../../core/errors.ts';
import type { NewEvent } from '../../../core/events.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import { append } from '../../../events/append.ts';
import { differs } from '../../../platform/differs.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { LABELS, type LabelInput, type LabelKind, type LabelRow, nameTaken, parseLabel } from './label.ts';
import { insertLabels } from './labels.sql.ts';
import { deleteLabels, getLabels, labelsInUse, lockLabels, updateLabel } from './store.ts';

type Action = 'created' | 'updated' | 'deleted';
type Keyed<T> = T & { readonly idempotencyKey?: string | null | undefined };

/** The payload names the label by its kind. */
const event = (kind: LabelKind, action: Action, label: LabelRow, previous?: Partial<LabelRow>): NewEvent =>
  ({ type: `${kind}.${action}`, payload: { [kind]: label, ...(previous && { previous }) } }) as unknown as NewEvent;

const changedSince = (before: LabelRow, after: LabelRow): Partial<LabelRow> =>
  Object.fromEntries(
    Object.entries(before).filter(([name, value]) => name !== 'updated_at' && after[name as keyof LabelRow] !== value),
  );

/** Creates a label. @throws VALIDATION_ERROR on `name` if it is taken */
export async function createLabel(context: Context, kind: LabelKind, input: Keyed<LabelInput>): Promise<LabelRow> {
  const tenantId = tenantOf(context);
  const fields = parseLabel(input, false);
  const keyed = { operation: `create${LABELS[kind].type}`, key: input.idempotencyKey, input };
  const label = await once(context, keyed, {
    run: async trx => {
      const [created] = await insertLabels(trx, tenantId, kind, [fields]);
      if (!created) throw nameTaken();
      await append(trx, tenantId, [event(kind, 'created', created)]);
      return created;
    },
    store: created => ({ id: created.id }),
    again: stored => existing(context, kind, (stored as { id: number }).id),
  });
  context.signals.send('events');
  return label;
}

async function existing(context: Context, kind: LabelKind, id: number): Promise<LabelRow> {
  const [label] = await getLabels(context.db.write, tenantOf(context), kind, [id]);
  if (!label) throw notFound(LABELS[kind].type);
  return label;
}

/** Updates the given fields. An update without effect changes neither `updated_at` nor the log. @throws NOT_FOUND, VALIDATION_ERROR */
export async function changeLabel(
  context: Context,
  kind: LabelKind,
  id: number,
  input: Keyed<LabelInput>,
): Promise<LabelRow> {
  const tenantId = tenantOf(context);
  const fields = parseLabel(input, true);
  const keyed = { operation: `update${LABELS[kind].type}`, key: input.idempotencyKey, input: { ...input, id } };
  const label = await once(context, keyed, {
    run: trx => update(trx, tenantId, kind, id, fields),
    store: updated => ({ id: updated.id }),
    again: () => existing(context, kind, id),
  });
  context.signals.send('events');
  return label;
}

async function update(
  trx: Db,
  tenantId: number,
  kind: LabelKind,
  id: number,
  fields: ReturnType<typeof parseLabel>,
): Promise<LabelRow> {
  try {
    const [before] = await lockLabels(trx, tenantId, kind, [id]);
    if (!before) throw notFound(LABELS[kind].type);
    if (!differs(before, fields)) return before;
    const after = await updateLabel(trx, tenantId, kind, id, fields);
    if (!after) throw notFound(LABELS[kind].type);
    await append(trx, tenantId, [event(kind, 'updated', after, changedSince(before, after))]);
    return after;
  } catch (error) {
    if (violationOf(error)?.kind === 'unique') throw nameTaken();
    throw error;
  }
}

/** Deletes a label. @throws NOT_FOUND; CONFLICT if contacts use it (sources and statuses) */
export async function removeLabel(context: Context, kind: LabelKind, id: number): Promise<LabelRow> {
  const tenantId = tenantOf(context);
  try {
    const label = await context.db.transaction(async trx => {
      const [deleted] = await deleteLabels(trx, tenantId, kind, [id]);
      if (!deleted) throw notFound(LABELS[kind].type);
      await append(trx, tenantId, [event(kind, 'deleted', deleted)]);
      return deleted;
    });
    forgetDefaults(context);
    context.signals.send('events');
    return label;
  } catch (error) {
    if (violationOf(error)?.kind === 'foreign_key') throw conflict(`This ${kind} is still used by contacts.`);
    throw error;
  }
}

/** Clears the cached tokens, which include the tenant's defaults: a deleted source or status may have been one. */
const forgetDefaults = ({ tokens }: Context): void => tokens.forgetAll();

export interface LabelBatchError {
  readonly index: number;
  readonly field: string;
  readonly messages: readonly string[];
}

export interface CreatedLabels {
  readonly created: readonly LabelRow[];
  readonly errors: readonly LabelBatchError[];
}

/** Creates labels in one transaction. Invalid ones, and those whose name is taken, are reported by their index. */
export async function createLabels(
  context: Context,
  kind: LabelKind,
  inputs: readonly LabelInput[],
  key: string | null | undefined,
): Promise<CreatedLabels> {
  const tenantId = tenantOf(context);
  const keyed = { operation: `create${LABELS[kind].plural}`, key, input: inputs };
  const outcome = await once<CreatedLabels>(context, keyed, {
    run: async trx => {
      const { valid, errors } = parseRows(inputs);
      const created = await insertLabels(
        trx,
        tenantId,
        kind,
        valid.map(({ fields }) => fields),
      );
      const createdNames = new Set(created.map(label => label.name));
      for (const { index, fields } of valid) {
        if (!createdNames.has(fields.name ?? ''))
          errors.push({ index, field: 'name', messages: ['Is already taken.'] });
      }
      await append(
        trx,
        tenantId,
        created.map(label => event(kind, 'created', label)),
      );
      return { created, errors: errors.sort((a, b) => a.index - b.index) };
    },
    store: result => result,
    again: async stored => stored as CreatedLabels,
  });
  context.signals.send('events');
  return outcome;
}

function parseRows(inputs: readonly LabelInput[]) {
  const valid: { index: number; fields: ReturnType<typeof parseLabel> }[] = [];
  const errors: LabelBatchError[] = [];
  const seen = new Set<string>();
  for (const [index, input] of inputs.entries()) {
    try {
      const fields = parseLabel(input, false);
      const name = (fields.name ?? '').toLowerCase();
      if (seen.has(name))
        errors.push({ index, field: 'name', messages: ['Is already taken by another row of this batch.'] });
      else valid.push({ index, fields });
      seen.add(name);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      for (const [field, messages] of Object.entries(error.details as FieldErrors))
        errors.push({ index, field, messages });
    }
  }
  return { valid, errors };
}

export interface DeletedLabels {
  readonly deletedIds: readonly number[];
  readonly notFoundIds: readonly number[];
  readonly inUseIds: readonly number[];
}

/** Deletes labels in one transaction. Ids that do not exist, and labels in use, are reported and kept. */
export async function removeLabels(context: Context, kind: LabelKind, ids: readonly number[]): Promise<DeletedLabels> {
  const tenantId = tenantOf(context);
  const wanted = [...new Set(ids)];
  const outcome = await context.db.transaction(async trx => {
    await lockLabels(trx, tenantId, kind, wanted);
    const inUse = kind === 'group' ? [] : await labelsInUse(trx, tenantId, kind, wanted);
    const deletable = wanted.filter(id => !inUse.includes(id));
    const deleted = await deleteLabels(trx, tenantId, kind, deletable);
    await append(
      trx,
      tenantId,
      deleted.map(label => event(kind, 'deleted', label)),
    );
    const deletedIds = deleted.map(label => label.id);
    return { deletedIds, inUseIds: inUse, notFoundIds: deletable.filter(id => !deletedIds.includes(id)) };
  });
  forgetDefaults(context);
  context.signals.send('events');
  return outcome;
}
