import type { Db } from '../../database/database.ts';
import type { NetworkPerson } from '../../network/network.ts';
import type { Resources } from '../../schema/context.ts';
import type { MergeRequest } from './merging/merge.ts';
import type { Evidence } from './recognition/evidence.ts';
import { listExisting } from './recognition/persons.sql.ts';
import { recognise } from './recognition/recognise.ts';
import { portfoliosOf } from './recognition/store.ts';

/** A person as a webhook describes them, or both sides of an identity change. */
export interface Sender {
  /** The receiving channel; user ids are unique within its portfolio. */
  readonly channelId: number;
  readonly at: Date;
  /** Before a change of number or user id. */
  readonly before?: NetworkPerson | undefined;
  readonly userId: string | undefined;
  readonly parentUserId?: string | undefined;
  /** Digits of the number. */
  readonly waId: string | undefined;
  readonly username?: string | undefined;
  readonly profileName?: string | undefined;
  /** See `Evidence`. */
  readonly isUserIdOfThread?: boolean | undefined;
}

/** A person to whom we sent a message. */
export interface SeenRecipient extends Sender {
  /** The contact of the message. */
  readonly contactId: number;
}

/**
 * Resolves people to contacts (see `People` for the rules), creating contacts for unknown ones. The plan's limit does not apply,
 * so that no inbound message is rejected; it does stop the next creation by the tenant.
 *
 * @param onCountedTwice as of a merge (`MergeRequest`)
 * @returns contact ids in the order of the senders
 */
export async function resolveContacts(
  trx: Db,
  tenantId: number,
  senders: readonly Sender[],
  nowMs: number,
  onCountedTwice?: MergeRequest['onCountedTwice'],
): Promise<number[]> {
  if (senders.length === 0) return [];
  return recognise(trx, tenantId, () => readEvidence(trx, tenantId, senders, nowMs), nowMs, onCountedTwice);
}

/** Stores identities of recipients. Skips recipients whose contact was erased or merged, because they would be created again. */
async function resolveRecipients(
  trx: Db,
  tenantId: number,
  recipients: readonly SeenRecipient[],
  nowMs: number,
): Promise<void> {
  const readExisting = async () => {
    const existing = await listExisting(
      trx,
      tenantId,
      recipients.map(({ contactId }) => contactId),
    );
    const senders = recipients.filter(({ contactId }) => existing.has(contactId));
    return readEvidence(trx, tenantId, senders, nowMs);
  };
  await recognise(trx, tenantId, readExisting, nowMs);
}

/**
 * Stores identities carried by statuses and send responses. Runs in a separate transaction after theirs, because identities lock
 * tenant_usage before contacts and messages. Never rejects: a missed identity arrives again with the person's next status.
 */
export async function storeRecipientIdentities(
  { db, clock, signals, log }: Pick<Resources, 'db' | 'clock' | 'signals' | 'log'>,
  tenantId: number,
  seen: readonly SeenRecipient[],
): Promise<void> {
  if (seen.length === 0) return;
  try {
    await db.transaction(trx => resolveRecipients(trx, tenantId, seen, clock.now()));
    signals.send('events');
  } catch (error) {
    log.error(
      { err: error, tenantId, people: seen.length },
      'identities of recipients could not be stored; the next status contains them again',
    );
  }
}

async function readEvidence(trx: Db, tenantId: number, senders: readonly Sender[], nowMs: number): Promise<Evidence[]> {
  const portfolios = await portfoliosOf(trx, tenantId, [...new Set(senders.map(sender => sender.channelId))]);
  return senders.map(
    ({ channelId, at, before, userId, parentUserId, waId, username, profileName, isUserIdOfThread }) => ({
      // A timestamp in the future would win over later evidence until then.
      atMs: Math.min(at.getTime(), nowMs),
      portfolio: portfolios.get(channelId) ?? '',
      before,
      after: { userId, parentUserId, waId },
      username,
      profileName,
      isUserIdOfThread,
    }),
  );
}
