import { expect } from 'vitest';
import type { Clock } from '../../../src/platform/clock.ts';
import { dataOf } from '../../support/answers.ts';
import {
  eventually,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestTenant,
} from '../../support/gateway.ts';

/** A clock that tests move, and nothing else: what is due then does not hang on how long a machine takes. */
export interface MovedClock extends Clock {
  advance(ms: number): void;
}

export function movedClock(): MovedClock {
  let time = Date.now();
  return {
    now: () => time,
    advance(ms) {
      time += ms;
    },
  };
}

export const LOOPBACK = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

/** A gateway that may deliver to this machine. */
export const startHooks = (options: TestGatewayOptions = {}): Promise<TestGateway> =>
  startGateway({ ...options, env: { ...LOOPBACK, ...options.env } });

const CREATE = `mutation ($input: CreateWebhookEndpointInput!) {
  result: createWebhookEndpoint(input: $input) { created secret endpoint { databaseId } } }`;

export interface Endpoint {
  readonly id: number;
  readonly secret: string;
}

/**
 * Waits until nothing runs any more that began before the last event: other tests use the same cluster. Until then an endpoint that
 * is made is told of that event too.
 */
export const pastEvents = (gateway: TestGateway): Promise<void> =>
  eventually(async () => {
    const [row] = await gateway.database.query<{ are_past: boolean | null }>(
      'select max(xid) < pg_snapshot_xmin(pg_current_snapshot()) as are_past from events',
    );
    expect(row?.are_past).not.toBe(false);
  });

/** Makes an endpoint that is told of nothing from before it. */
export async function createEndpoint(
  gateway: TestGateway,
  input: { url: string; events: string[]; format?: string; headers?: object[] },
  tenant: TestTenant = gateway.tenant,
): Promise<Endpoint> {
  await pastEvents(gateway);
  const { result } = dataOf(await gateway.graphql(CREATE, { input }, tenant.token));
  return { id: result.endpoint.databaseId, secret: result.secret };
}

/** Makes groups with these names, one after the other: an event each. */
export async function makeGroups(
  gateway: TestGateway,
  names: readonly string[],
  token = gateway.tenant.token,
): Promise<void> {
  const input = names.map(name => ({ name }));
  const created = await gateway.graphql(
    'mutation ($input: [CreateGroupsItem!]!) { createGroups(input: $input) { created { id } } }',
    { input },
    token,
  );
  expect(dataOf(created).createGroups.created).toHaveLength(names.length);
}

/** Lets the shard of an endpoint look at its queue now, as the sweep does every five seconds. */
export function wake(gateway: TestGateway, endpointId: number): void {
  gateway.gateway.resources.jobs.wake('webhooks', String(endpointId % 4));
}

const DELIVERIES = `query ($id: ID!) { webhookDeliveries(endpointId: $id, first: 100, orderBy: [{ field: CREATED_AT }]) { nodes {
  databaseId eventType status attemptCount nextAttemptAt settledAt error isTest
  attempts { number at status durationMs response error } } } }`;

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
