import type { Db } from '../../../database/database.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import type { NewConsentEntry } from '../../contacts/consent/consent.ts';
import { recordConsent } from '../../contacts/consent/record.ts';
import { isOptType, readOptKeywords } from '../opt-keywords.ts';
import type { CorrectionUpdate } from './corrections.ts';
import { writtenMs } from './receive.ts';

/** Whether a person has edited a text outside of group chats, since the number was connected. */
export const isPrivateEdit = (update: NetworkUpdate): boolean =>
  update.kind === 'edit' &&
  update.direction === 'inbound' &&
  update.groupId === undefined &&
  !update.isPast &&
  update.text !== undefined &&
  isOptType(update.type ?? '');

/**
 * Opts out people who edit a message into an opt-out word, which they mistyped at first. An edit opts nobody in, and removing the word
 * by an edit changes nothing. Call it before messages are stored, because contacts are locked before them.
 */
export async function recordEditedOptOuts(
  trx: Db,
  tenantId: number,
  corrections: readonly CorrectionUpdate[],
  nowMs: number,
): Promise<void> {
  const edits = corrections.filter(({ update }) => isPrivateEdit(update));
  if (edits.length === 0) return;
  const wordOf = await readOptKeywords(trx, tenantId);
  const entries = edits.flatMap(
    ({ contactId, arrivedMs, update: { type = '', text = null, wamid, at } }): NewConsentEntry[] =>
      contactId === undefined || wordOf({ type, body: text }) !== 'out'
        ? []
        : [
            {
              contactId,
              category: 'all',
              state: 'opted_out',
              source: 'keyword',
              evidence: wamid,
              occurredAt: new Date(writtenMs({ at, arrivedMs }, nowMs)).toISOString(),
            },
          ],
  );
  await recordConsent(trx, tenantId, entries);
}
