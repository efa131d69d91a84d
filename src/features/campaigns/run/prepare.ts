import type { Lane } from '../../../lanes/lane.ts';
import type { Resources } from '../../../schema/context.ts';
import { contactsWhere } from '../../contacts/list.ts';
import { membersOf, planMembers } from '../audience/members.sql.ts';
import { insertRecipients } from './prepare.sql.ts';
import { waveSizeOf } from './protection.ts';
import { lockRun, writeRun } from './run-store.ts';

/** Contacts per transaction: 20,000 take a fifth of a second, so that a pause does not wait. */
const CHUNK = 20_000;

/**
 * Writes the next recipients of a running campaign, one narrow row each, by the set.
 * @returns whether something is left to do
 */
export const prepareChunk = (
  { db }: Pick<Resources, 'db'>,
  lane: Lane,
  tenantId: number,
  campaignId: number,
): Promise<boolean> =>
  db.transaction(async trx => {
    const run = await lockRun(trx, tenantId, campaignId);
    if (run?.status !== 'running' || run.is_prepared) return false;
    const members = membersOf(tenantId, run.audience, filter => contactsWhere(tenantId, filter));
    await planMembers(trx, members);
    const { added, last_id: lastId } = await insertRecipients(trx, campaignId, members, run.prepared_to, CHUNK);
    const change =
      lastId === null
        ? { is_prepared: true, wave_size: waveSizeOf(run.first_wave, run.total) }
        : { prepared_to: lastId };
    await writeRun(trx, tenantId, campaignId, change, { total: added, pending: added });
    await lane.fence(trx);
    return lastId !== null;
  });
