import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { crossTenant } from '../../../database/expressions.ts';
import { CAMPAIGN_COLUMNS, type CampaignRow } from '../campaign.ts';

/**
 * A campaign with the state of its run: recipients are prepared, then the messages of the first wave are made, the wave is judged, and
 * the other messages are made. Recipients that are requeued or postponed come before those after `position`.
 */
export interface RunRow extends CampaignRow {
  /** Id of the last contact that preparation has examined: recipients up to it are written. */
  readonly prepared_to: number;
  /** Whether all recipients are written; `wave_size` is set then. */
  readonly is_prepared: boolean;
  /** Id of the contact of the last recipient examined: a message was made for it, or it was skipped or postponed. */
  readonly position: number;
  /** Messages of the first wave; null until the recipients are prepared. */
  readonly wave_size: number | null;
  /**
   * When all messages of the first wave had been *made*; null before, and again after some were requeued. `isWaveOver` says whether the
   * wave can be *judged*.
   */
  readonly wave_ended_at: string | null;
  /** Whether the first wave was judged and passed, so that the other messages are made. */
  readonly is_wave_passed: boolean;
  /** Failed messages when the campaign was last resumed after an automatic stop: they do not count for the failure rate. */
  readonly failed_before: number;
  /** The same of delivered and failed messages. */
  readonly settled_before: number;
  /**
   * The database's time when it was read, for every decision by time: the clock of a process may be an hour off, which would send at night.
   */
  readonly now_ms: number;
}

const RUN_COLUMNS = [
  ...CAMPAIGN_COLUMNS,
  'prepared_to',
  'is_prepared',
  'position',
  'wave_size',
  'wave_ended_at',
  'is_wave_passed',
  'failed_before',
  'settled_before',
] as const satisfies readonly (keyof RunRow)[];

const nowMs = sql<number>`extract(epoch from clock_timestamp())::float8 * 1000`.as('now_ms');

type Narrow = Pick<RunRow, 'status' | 'template' | 'audience' | 'sending_hours' | 'frequency_cap' | 'author'>;

const selectRun = (db: Db, tenantId: number, id: number) =>
  db
    .selectFrom('campaigns')
    .select([...RUN_COLUMNS, nowMs])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .$narrowType<Narrow>();

export const getRun = (db: Db, tenantId: number, id: number): Promise<RunRow | undefined> =>
  selectRun(db, tenantId, id).executeTakeFirst();

/** Locks a campaign, so that it is not paused or cancelled until the transaction ends. */
export const lockRun = (trx: Db, tenantId: number, id: number): Promise<RunRow | undefined> =>
  selectRun(trx, tenantId, id).forUpdate().executeTakeFirst();

/** Whether a campaign is running; it is not paused or cancelled until the transaction ends. */
export async function isRunning(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const row = await trx
    .selectFrom('campaigns')
    .select('status')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();
  return row?.status === 'running';
}

/** New state of a run; see `RunRow`. */
export interface RunChange {
  readonly prepared_to?: number;
  readonly is_prepared?: boolean;
  readonly position?: number;
  readonly wave_size?: number;
  readonly wave_ended_at?: string | null;
  readonly is_wave_passed?: boolean;
  readonly last_message_at?: string;
  readonly failed_before?: number;
  readonly settled_before?: number;
}

/** Recipients were requeued: if they were of the first wave, that is not complete any more, and is judged when it is again. */
export const WAVE_OPEN: RunChange = { wave_ended_at: null };

/** Writes the state of a run. @param added to the counts */
export async function writeRun(
  trx: Db,
  tenantId: number,
  id: number,
  change: RunChange,
  added: { readonly total?: number; readonly pending?: number; readonly skipped?: number } = {},
): Promise<void> {
  await trx
    .updateTable('campaigns')
    .set(eb => ({
      ...change,
      total: eb('total', '+', added.total ?? 0),
      pending: eb('pending', '+', added.pending ?? 0),
      skipped: eb('skipped', '+', added.skipped ?? 0),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Campaigns of all tenants that run since before an instant, or were to start before it. */
export const listBegunBefore = (
  db: Db,
  before: string,
): Promise<{ readonly tenant_id: number; readonly id: number }[]> =>
  db
    .selectFrom('campaigns')
    .select(['tenant_id', 'id'])
    .where(eb =>
      eb.or([
        eb.and([eb('status', '=', 'running'), eb('started_at', '<', before)]),
        eb.and([eb('status', '=', 'scheduled'), eb('scheduled_at', '<', before)]),
      ]),
    )
    .orderBy('tenant_id')
    .orderBy('id')
    .modifyEnd(crossTenant("the operator's decision concerns all campaigns"))
    .execute();

/** Campaigns that have something to do; see `Queue.dueLanes`. */
export const dueCampaignLanes = sql<{ tenant_id: number; key: string }>`
  select tenant_id, tenant_id || ':' || id as key from campaigns
  where status in ('scheduled', 'running') and (status = 'running' or scheduled_at <= clock_timestamp())`;
