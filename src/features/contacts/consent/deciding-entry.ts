import type { Context } from '../../../schema/context.ts';
import { consentsLoader } from '../loaders.ts';

/**
 * Returns the id of the entry by which messages to a contact are refused; null if there is none any more.
 * @param details of a CONTACT_OPTED_OUT error: `contact_id`, and `category` unless an accepted message was stopped
 */
export async function decidingEntryId(
  context: Pick<Context, 'loaders'>,
  { contact_id: contactId, category }: Readonly<Record<string, unknown>>,
): Promise<number | null> {
  if (typeof contactId !== 'number') return null;
  const consents = await consentsLoader(context).load(contactId);
  const decides = consents.find(consent =>
    category === undefined ? consent.entry.state === 'opted_out' : consent.category === category,
  );
  return decides?.entry.id ?? null;
}
