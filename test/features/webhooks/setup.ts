import { expect } from 'vitest';
import { pastEvents } from '../../events/past-events.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
import {
  eventually,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestTenant,
} from '../../support/gateway.ts';

/** Lets time pass for an endpoint and what waits for it: due times are the clock of the database, which tests cannot move. */
export async function pass(gateway: TestGateway, endpointId: number, ms: number): Promise<void> {
  // One statement: what is due must not be tried before the endpoint has aged as well.
  await gateway.database.query(
    `with deliveries as (
       update webhook_deliveries set next_attempt_at = next_attempt_at - $2 * interval '1 ms' where endpoint_id = $1 and status = 'pending')
     update webhook_endpoints set failing_since = failing_since - $2 * interval '1 ms',
       previous_secret_until = previous_secret_until - $2 * interval '1 ms' where id = $1`,
    [endpointId, ms],
  );
}

export const LOOPBACK = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

/** A gateway that may deliver to this machine. */
export const startHooks = (options: TestGatewayOptions = {}): Promise<TestGateway> =>
  startGateway({ ...options, env: { ...LOOPBACK, ...options.env } });

export interface Endpoint {
  readonly id: number;
  readonly secret: string;
}

/** Makes an endpoint that is told of nothing from before it. */
export async function createEndpoint(
  gateway: TestGateway,
  input: { url: string; events: string[]; format?: string; headers?: object[] },
  tenant: TestTenant = gateway.tenant,
): Promise<Endpoint> {
  await pastEvents(gateway);
  const created = 'webhookEndpoint { databaseId } isNew secret';
  const payload = payloadOf(await gateway.mutate('createWebhookEndpoint', input, created, tenant.token));
  return { id: Number(payload.webhookEndpoint.databaseId), secret: payload.secret };
}

/** Makes groups with these names, one after the other: an event each. */
export async function makeGroups(
  gateway: TestGateway,
  names: readonly string[],
  token = gateway.tenant.token,
): Promise<void> {
  for (const name of names) dataOf(await gateway.mutate('createContactGroup', { name }, 'contactGroup { id }', token));
}

/** Lets the shard of an endpoint look at its queue now, as the sweep does every five seconds. */
export function wake(gateway: TestGateway, endpointId: number): void {
  gateway.gateway.resources.lanes.wake('webhooks', String(endpointId % 4));
}

const DELIVERIES = `query ($id: ID!) { webhookDeliveries(filter: { endpointId: { eq: $id } }, first: 100, orderBy: [{ field: CREATED_AT }]) { nodes {
  databaseId eventType status responseStatus attemptCount nextAttemptAt settledAt error isTest
  attempts { number occurredAt status durationMs response error } } } }`;

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of a delivery it says by assertions
export async function deliveries(gateway: TestGateway, endpointId: number): Promise<any[]> {
  return dataOf(await gateway.graphql(DELIVERIES, { id: String(endpointId) })).webhookDeliveries.nodes;
}

/** Waits until as many deliveries of an endpoint have come to their end, or to a number of attempts. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const attempted = (gateway: TestGateway, endpointId: number, attempts: number): Promise<any[]> =>
  eventually(async () => {
    const rows = await deliveries(gateway, endpointId);
    expect(rows.reduce((sum, row) => sum + row.attempts.length, 0)).toBeGreaterThanOrEqual(attempts);
    // Attempts are read after their deliveries: one may have come in between.
    expect(rows.map(row => row.attempts.length)).toEqual(rows.map(row => row.attemptCount));
    return rows;
  });
