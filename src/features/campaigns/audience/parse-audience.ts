import { type FieldErrorList, invalid } from '../../../core/errors.ts';
import { inputId } from '../../../core/global-ids.ts';
import { type Filter, refuseNullConditions } from '../../../core/list-args.ts';
import { callerOf, requireScope, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { contactsWhere } from '../../contacts/list.ts';
import { contactLoader, groupLoader } from '../../contacts/loaders.ts';
import { findSavedFilter } from '../../contacts/saved-filters/find.ts';
import { isComplete } from '../lists/list-row.ts';
import { recipientListLoader } from '../lists/loaders.ts';
import { listOfPhones } from '../lists/upload.ts';
import { type Audience, MAX_GROUPS, MAX_NAMED } from './audience.ts';

/** As callers give it: one of these. */
export interface AudienceInput {
  readonly groupIds?: readonly string[] | null | undefined;
  readonly filter?: Filter | null | undefined;
  readonly contactIds?: readonly string[] | null | undefined;
  readonly phones?: readonly string[] | null | undefined;
  readonly listId?: string | null | undefined;
  readonly savedFilterId?: string | null | undefined;
}

/**
 * Checks an audience. Phone numbers become contacts, and a list of their own.
 * @param name of the campaign
 * @param errors receives the faults of ids; what a filter or a number lacks is thrown
 */
export async function parseAudience(
  context: Context,
  input: AudienceInput,
  name: string,
  errors: FieldErrorList,
): Promise<Audience> {
  const tenantId = tenantOf(context);
  const given = oneOf(input, 'audience');
  requireScope(callerOf(context), 'contacts:read');
  switch (given.field) {
    case 'groupIds': {
      const ids = idsOf(tenantId, 'ContactGroup', given.value, 'audience.groupIds', MAX_GROUPS);
      await checkGroups(context, { groupIds: ids }, errors);
      return { groupIds: ids };
    }
    case 'contactIds': {
      const ids = idsOf(tenantId, 'Contact', given.value, 'audience.contactIds', MAX_NAMED);
      await checkAll(ids, contactLoader(context), 'audience.contactIds', 'contact', errors);
      return { contactIds: ids };
    }
    case 'filter': {
      refuseNullConditions(given.value, 'audience.filter', errors);
      contactsWhere(tenantId, given.value);
      return { filter: given.value };
    }
    case 'savedFilterId': {
      const id = inputId(tenantId, 'SavedFilter', given.value, 'audience.savedFilterId');
      const saved = await findSavedFilter(context.db.read, tenantId, id);
      // A copy: who gets a campaign does not change when a colleague changes the saved filter.
      if (saved) return { filter: saved.filter };
      throw invalid(
        { 'audience.savedFilterId': [`There is no saved filter with the id ${id}.`] },
        'REFERENCE_NOT_FOUND',
      );
    }
    case 'listId': {
      const id = inputId(tenantId, 'RecipientList', given.value, 'audience.listId');
      await checkAll([id], recipientListLoader(context), 'audience.listId', 'list', errors);
      const list = await recipientListLoader(context).load(id);
      if (list && !isComplete(list))
        errors.add('audience.listId', `The list ${id} is not complete: upload its last part, or the file again.`);
      return { listId: id };
    }
    case 'phones': {
      checkCount(given.value.length, MAX_NAMED, 'audience.phones');
      errors.throwIfAny();
      requireScope(callerOf(context), 'contacts:write');
      return { listId: (await listOfPhones(context, name, given.value)).id };
    }
  }
}

/** Adds the groups of an audience that do not exist: they may have been deleted since it was checked. */
export async function checkGroups(context: Context, audience: Audience, errors: FieldErrorList): Promise<void> {
  if ('groupIds' in audience)
    await checkAll(audience.groupIds, groupLoader(context), 'audience.groupIds', 'group', errors);
}

/** Whether an audience consists of groups, and none of them exists. */
export async function isGone(context: Context, audience: Audience): Promise<boolean> {
  if (!('groupIds' in audience)) return false;
  const groups = await Promise.all(audience.groupIds.map(id => groupLoader(context).load(id)));
  return groups.every(group => group === undefined);
}

function checkCount(count: number, maximum: number, field: string): void {
  if (count === 0) throw invalid({ [field]: ['Name at least one.'] }, 'REQUIRED');
  if (count > maximum) throw invalid({ [field]: [`May be at most ${maximum}; upload a list for more.`] }, 'TOO_MANY');
}

function idsOf(tenantId: number, node: string, given: readonly string[], field: string, maximum: number): number[] {
  checkCount(given.length, maximum, field);
  return [...new Set(given.map(id => inputId(tenantId, node, String(id), field)))];
}

async function checkAll(
  ids: readonly number[],
  loader: { loadMany(ids: readonly number[]): Promise<readonly unknown[]> },
  field: string,
  what: string,
  errors: FieldErrorList,
): Promise<void> {
  const found = await loader.loadMany(ids);
  for (const [index, id] of ids.entries())
    if (!found[index] || found[index] instanceof Error)
      errors.add(field, `There is no ${what} with the id ${id}.`, 'REFERENCE_NOT_FOUND');
}
