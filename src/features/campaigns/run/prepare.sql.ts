import type { Db } from '../../../database/database.ts';
import { Parameters } from '../../../database/list-sql.ts';
import { raw } from '../../../database/statements.ts';
import type { Members } from '../audience/members.sql.ts';

export interface PreparedRange {
  /** Recipients that were written. */
  readonly added: number;
  /** The last contact that was looked at; null: there are no more. */
  readonly last_id: number | null;
}

/**
 * Writes the recipients among the next contacts of an audience, in the order of contacts. Idempotent: writing a range again adds no duplicates.
 * Ranges are chosen by contact and not by time, so that the plan is the index of contacts whatever their statistics are.
 */
export async function insertRecipients(
  trx: Db,
  campaignId: number,
  members: Members,
  after: number,
  limit: number,
): Promise<PreparedRange> {
  const parameters = new Parameters(members.values);
  const [id, from, most] = [
    parameters.add(campaignId, 'bigint'),
    parameters.add(after, 'bigint'),
    parameters.add(limit, 'integer'),
  ];
  const { rows } = await trx.executeQuery(
    raw<PreparedRange>(
      `with chosen as materialized (
        ${members.idsAfter(from, most)}
      ), added as (
        insert into campaign_recipients (tenant_id, campaign_id, contact_id)
        select $1::bigint, ${id}, id from chosen order by id on conflict do nothing returning 1
      )
      select (select count(*)::int from added) as added, (select max(id) from chosen) as last_id`,
      parameters.values,
    ),
  );
  return rows[0] ?? { added: 0, last_id: null };
}
