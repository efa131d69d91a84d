import type { Db } from '../../../database/database.ts';
import { anyOf, clockTime, clockTimeIn } from '../../../database/expressions.ts';
import type { Cursor } from '../../../events/cursor.ts';
import { ENDPOINT_COLUMNS, type EndpointRow, type WebhookFormat } from './endpoint.ts';

/** Columns that are text in the table. */
type Narrow = Pick<EndpointRow, 'format' | 'disabled_reason'>;

/** An endpoint as stored, with its secrets sealed. */
export interface EndpointValues {
  readonly url: string;
  readonly events: readonly string[];
  readonly subscription: Buffer;
  readonly format: WebhookFormat;
  readonly description: string | null;
  readonly header_names: readonly string[];
  readonly headers: Buffer | null;
}

/** Locks the tenant's number of endpoints until the transaction ends. */
export async function lockEndpoints(trx: Db, tenantId: number): Promise<void> {
  await trx
    .selectNoFrom(eb =>
      eb
        .fn('pg_advisory_xact_lock', [eb.fn('hashtextextended', [eb.val('webhook_endpoints'), eb.val(tenantId)])])
        .as('locked'),
    )
    .execute();
}

export async function countEndpoints(db: Db, tenantId: number): Promise<number> {
  const { count } = await db
    .selectFrom('webhook_endpoints')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * @param since the horizon of the log: the endpoint receives events from there on
 * @returns undefined if an endpoint with the same address and events exists
 */
export const insertEndpoint = (
  trx: Db,
  tenantId: number,
  values: EndpointValues,
  secret: Buffer,
  enabled: boolean,
  since: Cursor,
  nowIso: string,
): Promise<EndpointRow | undefined> =>
  trx
    .insertInto('webhook_endpoints')
    .values({
      tenant_id: tenantId,
      ...values,
      events: [...values.events],
      header_names: [...values.header_names],
      secret,
      enabled,
      disabled_reason: enabled ? null : 'by_hand',
      disabled_at: enabled ? null : nowIso,
      listens_since: String(since.xid),
      listens_since_seq: since.seq,
      created_at: nowIso,
      updated_at: nowIso,
    })
    .onConflict(conflict => conflict.columns(['tenant_id', 'subscription']).doNothing())
    .returning(ENDPOINT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirst();

/** Finds and locks the endpoint with this address and these events. */
export const lockSubscription = (trx: Db, tenantId: number, subscription: Buffer): Promise<EndpointRow | undefined> =>
  trx
    .selectFrom('webhook_endpoints')
    .select(ENDPOINT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('subscription', '=', subscription)
    .forUpdate()
    .$narrowType<Narrow>()
    .executeTakeFirst();

export const lockEndpoint = (trx: Db, tenantId: number, id: number): Promise<EndpointRow | undefined> =>
  trx
    .selectFrom('webhook_endpoints')
    .select(ENDPOINT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .$narrowType<Narrow>()
    .executeTakeFirst();

/** The sealed headers of an endpoint. */
export const findHeaders = async (trx: Db, tenantId: number, id: number): Promise<Buffer | null> =>
  (
    await trx
      .selectFrom('webhook_endpoints')
      .select('headers')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .executeTakeFirst()
  )?.headers ?? null;

/**
 * Updates the given fields. Enabling a disabled endpoint clears its failures and the reason why it was disabled; it receives
 * events from `since` on.
 */
export function updateEndpoint(
  trx: Db,
  tenantId: number,
  id: number,
  { enabled, events, header_names, ...values }: Partial<EndpointValues> & { readonly enabled?: boolean | undefined },
  since: Cursor,
  nowIso: string,
): Promise<EndpointRow | undefined> {
  return trx
    .updateTable('webhook_endpoints')
    .set({
      ...values,
      ...(events && { events: [...events] }),
      ...(header_names && { header_names: [...header_names] }),
      updated_at: nowIso,
    })
    .$if(enabled === true, update =>
      update.set(eb => ({
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        // The values from before the update: nothing changes for an endpoint that was enabled.
        failing_since: eb.case().when(eb.ref('enabled')).then(eb.ref('failing_since')).end(),
        listens_since: eb.case().when(eb.ref('enabled')).then(eb.ref('listens_since')).else(String(since.xid)).end(),
        listens_since_seq: eb.case().when(eb.ref('enabled')).then(eb.ref('listens_since_seq')).else(since.seq).end(),
      })),
    )
    .$if(enabled === false, update =>
      update.set(eb => ({
        enabled: false,
        disabled_reason: eb.fn.coalesce('disabled_reason', eb.val('by_hand')),
        disabled_at: eb.fn.coalesce('disabled_at', eb.val(nowIso)),
      })),
    )
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(ENDPOINT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirst();
}

/**
 * Rotates an endpoint's secret; the old one stays valid for `overlapMs` (0: not at all). An older one that was still valid
 * expires now.
 */
export const replaceSecret = (
  trx: Db,
  tenantId: number,
  id: number,
  secret: Buffer,
  overlapMs: number,
): Promise<EndpointRow | undefined> =>
  trx
    .updateTable('webhook_endpoints')
    .set(eb => ({
      previous_secret: overlapMs > 0 ? eb.ref('secret') : null,
      previous_secret_until: overlapMs > 0 ? clockTimeIn(overlapMs) : null,
      secret,
      updated_at: clockTime,
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(ENDPOINT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirst();

export const deleteEndpoint = (trx: Db, tenantId: number, id: number): Promise<EndpointRow | undefined> =>
  trx
    .deleteFrom('webhook_endpoints')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(ENDPOINT_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirst();

export const getEndpoints = (db: Db, tenantId: number, ids: readonly number[]): Promise<EndpointRow[]> =>
  db
    .selectFrom('webhook_endpoints')
    .select(ENDPOINT_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();
