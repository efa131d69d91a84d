import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayProcess, type Plant, startPlant } from '../../../app/processes.ts';
import { eventually } from '../../../support/gateway.ts';
import { freePort } from '../../../support/processes.ts';
import { connect } from '../../events/subscriber.ts';

/**
 * Switches the watch over open sockets off, which looks every two seconds: what ends a connection is the signal of the other process,
 * however slow this machine is.
 */
const WITHOUT_WATCH = `--import=data:text/javascript,${encodeURIComponent(
  'const every = setInterval; globalThis.setInterval = (run, ms, ...rest) => ms === 2000 ? every(() => undefined, 1e9) : every(run, ms, ...rest);',
)}`;

let plant: Plant;
let first: GatewayProcess;
let second: GatewayProcess;
beforeAll(async () => {
  plant = await startPlant({}, { NODE_OPTIONS: WITHOUT_WATCH });
  [first, second] = await Promise.all([plant.startGateway(await freePort()), plant.startGateway(await freePort())]);
});
afterAll(() => plant.stop());

async function call(url: string, query: string, input?: object, token = plant.token) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { input } }),
  });
  return { status: response.status, data: ((await response.json()) as { data?: Record<string, unknown> }).data };
}

const CREATE_STAFF =
  'mutation ($input: CreateStaffMemberInput!) { createStaffMember(input: $input) { staffMember { id } userErrors { message } } }';
const CREATE_SESSION =
  'mutation ($input: CreateStaffSessionInput!) { createStaffSession(input: $input) { token userErrors { message } } }';
const REVOKE =
  'mutation ($input: RevokeStaffSessionsInput!) { revokeStaffSessions(input: $input) { userErrors { message } } }';
const VIEWER = '{ viewer { scopes } }';

test('a revoked staff session is refused by another process within a second, over HTTP and on its open WebSocket', async () => {
  const email = 'agent@example.com';
  const created = await call(first.url, CREATE_STAFF, { name: 'Ana', email, role: 'AGENT' });
  const { id } = (created.data as { createStaffMember: { staffMember: { id: string } } }).createStaffMember.staffMember;

  const revocation = async (): Promise<number> => {
    const session = await call(first.url, CREATE_SESSION, {
      staffMember: { email },
      documentsOnly: false,
      origins: [],
    });
    const { token } = (session.data as { createStaffSession: { token: string } }).createStaffSession;
    const closed = Promise.withResolvers<number>();
    const client = connect(second.url, token, {
      closed: event => closed.resolve((event as { readonly code: number }).code),
    });
    client.subscribe({ query: 'subscription { events { cursor } }' }, { next() {}, error() {}, complete() {} });
    await new Promise<void>(resolve => client.on('connected', () => resolve()));
    expect((await call(second.url, VIEWER, undefined, token)).status).toBe(200);
    expect((await call(first.url, REVOKE, { id })).data).toEqual({ revokeStaffSessions: { userErrors: [] } });
    const revokedMs = performance.now();
    expect(await closed.promise).toBe(4403);
    const elapsedMs = performance.now() - revokedMs;
    expect((await call(second.url, VIEWER, undefined, token)).status).toBe(401);
    return elapsedMs;
  };
  // One of them: a machine with other work may be slow at times.
  await eventually(async () => expect(await revocation()).toBeLessThan(1_000));
});
