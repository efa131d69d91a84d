import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import type { LabelRow } from './label.ts';
import { addMembers, getLabels, holdContacts, holdGroup, removeMembers } from './store.ts';

export interface MembersChange {
  readonly group: LabelRow;
  readonly count: number;
}

export interface MembersInput {
  readonly groupId: number;
  readonly contactIds: readonly number[];
  readonly idempotencyKey?: string | null | undefined;
}

export const MAX_MEMBERS = 1_000;

/**
 * Adds contacts to a group or takes them out of it.
 * @returns how many memberships changed
 * @throws NOT_FOUND for the group, VALIDATION_ERROR on `contactIds` that names ids which are no contacts (when adding)
 */
export async function changeMembers(
  context: Context,
  action: 'add' | 'remove',
  input: MembersInput,
): Promise<MembersChange> {
  const tenantId = tenantOf(context);
  const { groupId, contactIds } = input;
  if (contactIds.length === 0 || contactIds.length > MAX_MEMBERS)
    throw invalid({ contactIds: [`Takes 1 to ${MAX_MEMBERS} ids.`] });
  const present = ([group]: readonly LabelRow[]): LabelRow => {
    if (!group) throw notFound('Group');
    return group;
  };
  return once<MembersChange>(
    context,
    { operation: `${action}GroupMembers`, key: input.idempotencyKey, input },
    {
      run: async trx => {
        const group = present(await holdGroup(trx, tenantId, groupId));
        if (action === 'remove') return { group, count: await removeMembers(trx, tenantId, groupId, contactIds) };
        const known = await holdContacts(trx, tenantId, contactIds);
        const unknown = contactIds.filter(id => !known.has(id));
        if (unknown.length > 0) throw invalid({ contactIds: [`No such contact: ${unknown.slice(0, 10).join(', ')}.`] });
        return { group, count: await addMembers(trx, tenantId, groupId, contactIds) };
      },
      store: ({ count }) => ({ count }),
      again: async stored => ({
        group: present(await getLabels(context.db.write, tenantId, 'group', [groupId])),
        count: (stored as { count: number }).count,
      }),
    },
  );
}
