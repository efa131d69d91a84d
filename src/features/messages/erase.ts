import type { Db } from '../../database/database.ts';
import type { PublicConversation } from '../conversations/conversation.ts';
import { eraseConversations } from '../conversations/erase.ts';
import { blankFilenames, forgetUnshownUploads } from './content/media/files.sql.ts';
import { countKeptOf } from './content/media/keeping/kept.sql.ts';
import { deleteQueuedOf, deleteSomeMessagesOf } from './erase.sql.ts';

/** Messages deleted by one statement, within some tenths of a second. */
const BATCH = 1_000;

/** The contact of each deleted row; the conversations themselves. */
export interface ErasedMessages {
  readonly messages: readonly number[];
  /** Kept files, by contact. Their bytes are deleted within a minute, unless another person's message has the same. */
  readonly files: ReadonlyMap<number, number>;
  readonly conversations: readonly PublicConversation[];
  /** Removed from the queue before they were submitted. */
  readonly cancelled: readonly number[];
  /** The network's ids of the files of messages. */
  readonly media: readonly string[];
  /** Submitted to the network: they may still arrive, and their statuses are ignored. */
  readonly inFlight: readonly number[];
}

/** Deletes messages, queued messages and conversations of contacts that the caller has locked. */
export async function eraseMessages(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<ErasedMessages> {
  // First: the deletion of messages cascades to their queue rows, which are counted here.
  const queued = await deleteQueuedOf(trx, tenantId, contactIds);
  const files = await countKeptOf(trx, tenantId, contactIds);
  const messages: number[] = [];
  const media = new Set<string>();
  for (;;) {
    const deleted = await deleteSomeMessagesOf(trx, tenantId, contactIds, BATCH);
    for (const message of deleted) {
      messages.push(message.contact_id);
      for (const id of message.media ?? []) media.add(id);
    }
    if (deleted.length < BATCH) break;
  }
  if (media.size > 0) await forgetUnshownUploads(trx, tenantId, [...media]);
  const conversations = await eraseConversations(trx, tenantId, contactIds);
  const contactOf = ({ contact_id }: { readonly contact_id: number }): number => contact_id;
  return {
    messages,
    files: new Map(files.map(row => [row.contact_id, row.count])),
    media: [...media],
    conversations,
    cancelled: queued.filter(row => !row.in_flight).map(contactOf),
    inFlight: queued.filter(row => row.in_flight).map(contactOf),
  };
}

/**
 * Blanks the names of files that were sent to erased people, or whose names contain one of their identities. The files stay
 * sendable, because an upload may be for several people.
 * @param networkIds of the files of their messages
 * @param texts numbers, user ids and e-mail addresses
 * @returns the number of changed rows
 */
export const eraseFilenames = (
  trx: Db,
  tenantId: number,
  networkIds: readonly string[],
  texts: readonly string[],
): Promise<number> => blankFilenames(trx, tenantId, networkIds, texts);
