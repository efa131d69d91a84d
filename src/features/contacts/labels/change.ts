import { conflict, notFound } from '../../../core/errors.ts';
import type { NewEvent } from '../../../core/events.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import { append } from '../../../events/append.ts';
import { differs } from '../../../platform/differs.ts';
import type { Context } from '../../../schema/context.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { LABELS, type LabelInput, type LabelKind, type LabelRow, nameTaken, parseLabel } from './label.ts';
import { insertLabels } from './labels.sql.ts';
import { deleteLabels, getLabels, lockLabels, updateLabel } from './store.ts';

type Action = 'created' | 'updated' | 'deleted';
/** The payload names the label by its kind. */
const event = (kind: LabelKind, action: Action, label: LabelRow, previous?: Partial<LabelRow>): NewEvent =>
  ({ type: `${kind}.${action}`, payload: { [kind]: label, ...(previous && { previous }) } }) as unknown as NewEvent;

const changedSince = (before: LabelRow, after: LabelRow): Partial<LabelRow> =>
  Object.fromEntries(
    Object.entries(before).filter(([name, value]) => name !== 'updated_at' && after[name as keyof LabelRow] !== value),
  );

/** Creates a label. @throws VALIDATION_ERROR on `name` if it is taken */
export async function createLabel(context: Context, kind: LabelKind, input: WithKey<LabelInput>): Promise<LabelRow> {
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
    rebuild: stored => requireLabel(context, kind, (stored as { id: number }).id),
  });
  context.signals.send('events');
  return label;
}

async function requireLabel(context: Context, kind: LabelKind, id: number): Promise<LabelRow> {
  const [label] = await getLabels(context.db.write, tenantOf(context), kind, [id]);
  if (!label) throw notFound(LABELS[kind].name);
  return label;
}

/** Updates the given fields. An update without effect changes neither `updated_at` nor the log. @throws NOT_FOUND, VALIDATION_ERROR */
export async function changeLabel(
  context: Context,
  kind: LabelKind,
  id: number,
  input: WithKey<LabelInput>,
): Promise<LabelRow> {
  const tenantId = tenantOf(context);
  const fields = parseLabel(input, true);
  const keyed = { operation: `update${LABELS[kind].type}`, key: input.idempotencyKey, input: { ...input, id } };
  const label = await once(context, keyed, {
    run: trx => update(trx, tenantId, kind, id, fields),
    store: updated => ({ id: updated.id }),
    rebuild: () => requireLabel(context, kind, id),
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
    if (!before) throw notFound(LABELS[kind].name);
    if (!differs(before, fields)) return before;
    const after = await updateLabel(trx, tenantId, kind, id, fields);
    if (!after) throw notFound(LABELS[kind].name);
    await append(trx, tenantId, [event(kind, 'updated', after, changedSince(before, after))]);
    return after;
  } catch (error) {
    if (violationOf(error)?.kind === 'unique') throw nameTaken();
    throw error;
  }
}

/** Deletes a label. @throws NOT_FOUND; CONFLICT if contacts use it (sources and statuses) */
export async function removeLabel(
  context: Context,
  kind: LabelKind,
  id: number,
  idempotencyKey: string | null | undefined,
): Promise<void> {
  const tenantId = tenantOf(context);
  const keyed = { operation: `delete${LABELS[kind].type}`, key: idempotencyKey, input: { id } };
  try {
    await once<void>(context, keyed, {
      run: async trx => {
        const [deleted] = await deleteLabels(trx, tenantId, kind, [id]);
        if (!deleted) throw notFound(LABELS[kind].name);
        await append(trx, tenantId, [event(kind, 'deleted', deleted)]);
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    });
    forgetDefaults(context);
    context.signals.send('events');
  } catch (error) {
    if (violationOf(error)?.kind === 'foreign_key') throw conflict(`This ${kind} is still used by contacts.`);
    throw error;
  }
}

/** Clears the cached tokens, which include the tenant's defaults: a deleted source or status may have been one. */
const forgetDefaults = ({ tokens }: Context): void => tokens.forgetAll();
