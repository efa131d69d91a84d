import type { Db } from '../../platform/database.ts';
import { type Known, peopleOf } from './people.ts';
import { erasePayloads } from './people-store.ts';

/**
 * Erases the payloads of shops that tell of people who are deleted, in the transaction that deletes them. What became of each
 * payload stays, and that it was erased; one that still waits comes to nothing.
 */
export const forgetPeople = (trx: Db, tenantId: number, contacts: readonly Known[], nowIso: string): Promise<void> =>
  contacts.length === 0 ? Promise.resolve() : erasePayloads(trx, tenantId, peopleOf(contacts), nowIso);
