import type { Db } from '../../../database/database.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import type { NewConsentEntry } from '../consent/consent.ts';
import { recordConsent } from '../consent/record.ts';
import type { MergeRequest } from '../merging/merge.ts';
import { resolveContacts, type Sender } from '../resolve-contacts.ts';

type PeopleUpdate = Extract<NetworkUpdate, { kind: 'message' | 'identity_change' | 'preference' }>;

/** An update with the tenant's channel that received it. */
export interface ChannelUpdate {
  readonly channelId: number;
  readonly update: PeopleUpdate;
}

/**
 * Applies changes of number and user id, and preferences, of a batch of webhooks. Call it first for the batch, with the senders of
 * its messages: all people are resolved at once, so that contacts are locked in one order.
 */
export async function applyPeopleUpdates(
  trx: Db,
  tenantId: number,
  updates: readonly ChannelUpdate[],
  others: readonly Sender[],
  nowMs: number,
  onCountedTwice?: MergeRequest['onCountedTwice'],
): Promise<number[]> {
  if (others.length === 0 && updates.every(({ update }) => update.kind === 'message')) return [];
  const named = updates.filter(({ update }) => isNamed(update));
  const senders = [...named.map(senderOf), ...others];
  const contactIds = await resolveContacts(trx, tenantId, senders, nowMs, onCountedTwice);
  const entries = named.flatMap(({ update }, index): NewConsentEntry[] => {
    const contactId = contactIds[index];
    if (update.kind !== 'preference' || contactId === undefined) return [];
    return [
      {
        contactId,
        category: update.category,
        state: update.wish === 'stop' ? 'opted_out' : 'opted_in',
        source: 'network',
        evidence: update.detail,
        occurredAt: new Date(Math.min(update.at.getTime(), nowMs)).toISOString(),
      },
    ];
  });
  await recordConsent(trx, tenantId, entries);
  return contactIds.slice(named.length);
}

const isNamed = (update: PeopleUpdate): boolean =>
  update.kind !== 'message' || update.from !== undefined || update.userId !== undefined;

/** The sender of an update. */
export function senderOf({ channelId, update }: ChannelUpdate): Sender {
  const { at } = update;
  switch (update.kind) {
    case 'identity_change':
      return { channelId, at, before: update.before, ...update.after };
    case 'preference':
      return { channelId, at, ...update.person };
    case 'message': {
      const { from: waId, userId, parentUserId, username, profileName, change } = update;
      // The sender of a system message is the person after the change.
      if (change) return { channelId, at, before: change.before, ...change.after };
      return { channelId, at, waId, userId, parentUserId, username, profileName };
    }
    default:
      return update satisfies never;
  }
}
