import { sql } from 'kysely';
import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf, clockTime, clockTimeIn, crossTenant } from '../../../database/expressions.ts';
import type { ConversationChange } from '../change.ts';
import type { JobProgress, JobRow } from './job.ts';

const COLUMNS = [
  'id',
  'filter',
  'change',
  'matched_count',
  'updated_count',
  'failed_count',
  'last_id',
  'max_id',
  'attempts',
  'error',
  'created_at',
  'updated_at',
  'finished_at',
] as const satisfies readonly (keyof JobRow)[];

type Json = Pick<JobRow, 'filter' | 'change'>;

/** Adds a job for the conversations that exist now. */
export const insertJob = (
  trx: Db,
  tenantId: number,
  job: { readonly filter: Filter; readonly change: ConversationChange; readonly matchedCount: number },
): Promise<JobRow> =>
  trx
    .insertInto('conversation_jobs')
    .values(eb => ({
      tenant_id: tenantId,
      filter: JSON.stringify(job.filter),
      change: JSON.stringify(job.change),
      matched_count: job.matchedCount,
      max_id: eb
        .selectFrom('conversations')
        .select(({ fn }) => fn.coalesce(fn.max('id'), sql<number>`0`).as('id'))
        .where('tenant_id', '=', tenantId)
        .$castTo<number>(),
    }))
    .returning(COLUMNS)
    .$narrowType<Json>()
    .executeTakeFirstOrThrow();

export const getJobs = (db: Db, tenantId: number, ids: readonly number[]): Promise<JobRow[]> =>
  db
    .selectFrom('conversation_jobs')
    .select(COLUMNS)
    .$narrowType<Json>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .execute();

export async function countOpenJobs(db: Db, tenantId: number): Promise<number> {
  const { count } = await db
    .selectFrom('conversation_jobs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Locks the tenant's oldest job that is not finished, if it is due. */
export const lockNextJob = (trx: Db, tenantId: number): Promise<JobRow | undefined> =>
  trx
    .selectFrom('conversation_jobs')
    .select(COLUMNS)
    .$narrowType<Json>()
    .where('tenant_id', '=', tenantId)
    .where('finished_at', 'is', null)
    .where('next_attempt_at', '<=', clockTime)
    .orderBy('id')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** A filter can contain what it looks for in contacts, which must not outlast their erasure: it is dropped with its last use. */
const FINISHED = { finished_at: clockTime, filter: '{}' };

/** Writes what a batch did, in its transaction. */
export async function advanceJob(
  trx: Db,
  tenantId: number,
  id: number,
  { lastId, updated, failed, isFinished }: JobProgress,
): Promise<void> {
  await trx
    .updateTable('conversation_jobs')
    .set(eb => ({
      last_id: lastId,
      updated_count: eb('updated_count', '+', updated),
      failed_count: eb('failed_count', '+', failed),
      attempts: 0,
      error: null,
      updated_at: clockTime,
      ...(isFinished && FINISHED),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Notes that a batch failed. @param retryMs null: the job is given up */
export async function failJob(
  db: Db,
  tenantId: number,
  id: number,
  error: string,
  retryMs: number | null,
): Promise<void> {
  await db
    .updateTable('conversation_jobs')
    .set(eb => ({
      error,
      attempts: eb('attempts', '+', 1),
      updated_at: clockTime,
      ...(retryMs === null ? FINISHED : { next_attempt_at: clockTimeIn(retryMs) }),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .execute();
}

/** Tenants with a due job. */
export const dueJobLanes = sql<{ tenant_id: number; key: string }>`
  select distinct tenant_id, tenant_id::text as key from conversation_jobs
  where finished_at is null and next_attempt_at <= clock_timestamp()`;

/** Deletes jobs that were finished before an instant. */
export async function deleteFinishedJobs(db: Db, before: string): Promise<void> {
  await db
    .deleteFrom('conversation_jobs')
    .where('finished_at', '<', before)
    .modifyEnd(crossTenant('one retention period for all tenants'))
    .execute();
}
