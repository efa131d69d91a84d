import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { latestEntries } from './consent.sql.ts';
import { effectiveConsents } from './consent.ts';
import { type ConsentRow, getEntries } from './store.ts';

/**
 * Returns the entry by which messages of a category are refused.
 * @param details of a CONTACT_OPTED_OUT error: `contact_id` and `category`
 */
export async function decidingEntry(
  context: Context,
  details: Readonly<Record<string, unknown>>,
): Promise<ConsentRow | null> {
  const { contact_id: contactId, category } = details;
  if (typeof contactId !== 'number') return null;
  const latest = (await latestEntries(context.db.read, tenantOf(context), [contactId])).get(contactId);
  const decides = effectiveConsents(latest ?? {}).find(consent => consent.category === category);
  if (!decides) return null;
  const [entry] = await getEntries(context.db.read, tenantOf(context), [decides.entry.id]);
  return entry ?? null;
}
