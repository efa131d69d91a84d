import { invalid, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import type { LabelRow } from './label.ts';
import { addMembers, getLabels, lockExistingContacts, lockGroup, removeMembers } from './store.ts';

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
 * Adds contacts to a group or removes them from it.
 * @returns the number of changed memberships
 * @throws NOT_FOUND for the group; when adding, VALIDATION_ERROR on `contactIds` with ids that do not exist
 */
export async function changeMembers(
  context: Context,
  action: 'add' | 'remove',
  input: MembersInput,
): Promise<MembersChange> {
  const tenantId = tenantOf(context);
  const { groupId, contactIds } = input;
  if (contactIds.length === 0 || contactIds.length > MAX_MEMBERS)
    throw invalid(
      { contactIds: [`Takes 1 to ${MAX_MEMBERS} ids.`] },
      contactIds.length === 0 ? 'REQUIRED' : 'TOO_MANY',
    );
  const orNotFound = (group: LabelRow | undefined): LabelRow => {
    if (!group) throw notFound('Group', 'groupId');
    return group;
  };
  return once<MembersChange>(
    context,
    { operation: `${action}GroupMembers`, key: input.idempotencyKey, input },
    {
      run: async trx => {
        const group = orNotFound(await lockGroup(trx, tenantId, groupId));
        if (action === 'remove') return { group, count: await removeMembers(trx, tenantId, groupId, contactIds) };
        const known = await lockExistingContacts(trx, tenantId, contactIds);
        const unknown = contactIds.filter(id => !known.has(id));
        if (unknown.length > 0)
          throw invalid(
            { contactIds: [`No such contact: ${unknown.slice(0, 10).join(', ')}.`] },
            'REFERENCE_NOT_FOUND',
          );
        return { group, count: await addMembers(trx, tenantId, groupId, [...known.values()]) };
      },
      store: ({ count }) => ({ count }),
      rebuild: async stored => ({
        group: orNotFound((await getLabels(context.db.write, tenantId, 'group', [groupId]))[0]),
        count: (stored as { count: number }).count,
      }),
    },
  );
}
