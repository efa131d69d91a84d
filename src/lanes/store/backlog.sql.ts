import { type RawBuilder, sql } from 'kysely';

/**
 * A query for `tenant_id`, `key`, `count` and `oldest_at` of the rows waiting in each lane of a queue.
 * @param tenantId undefined: of all accounts
 */
export type Backlog = (tenantId: number | undefined) => RawBuilder<unknown>;

/** The condition of a backlog. @param column an SQL column reference */
export const inAccount = (tenantId: number | undefined, column = 'tenant_id'): RawBuilder<unknown> =>
  tenantId === undefined ? sql`true` : sql`${sql.ref(column)} = ${tenantId}`;
