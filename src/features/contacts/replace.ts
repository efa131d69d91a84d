import type { Context } from '../../context.ts';
import { callerOf } from '../caller.ts';
import type { ContactRow } from './contact.ts';
import { changeContact, type UpdateContactInput } from './update.ts';

/** What a contact is of which nothing is said; source and status are the tenant's defaults, as of a new one. */
const NOTHING: UpdateContactInput = {
  lastName: null,
  email: null,
  company: null,
  description: null,
  address: null,
  city: null,
  state: null,
  zip: null,
  countryId: null,
  assigneeId: null,
  groupIds: [],
};

/**
 * Makes a contact what is given, and nothing else: what is not given becomes empty, source and status the tenant's defaults.
 * Whether the person asked not to be messaged stays as it is unless something is said of it: nobody may take that wish back by
 * leaving out a field.
 *
 * @throws NOT_FOUND, VALIDATION_ERROR by field
 */
export function replaceContact(context: Context, id: number, input: UpdateContactInput): Promise<ContactRow> {
  const { defaultSourceId, defaultStatusId } = callerOf(context).tenant;
  return changeContact(context, id, { ...NOTHING, ...input }, 'replaceContact', {
    source_id: defaultSourceId,
    status_id: defaultStatusId,
  });
}
