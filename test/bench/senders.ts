import { setTimeout as sleep } from 'node:timers/promises';
import type { SentReport } from '../../src/emulator/sent-log.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { APP_SECRET } from '../support/processes.ts';
import { addTenant, addToken, FIRST_PHONE, type FilledTenant } from './fill.ts';
import type { Fixture } from './fixture.ts';
import { SECRET_KEY } from './gateway.ts';
import { open, rawRequest } from './load.ts';
import type { Server } from './server.ts';

/** Connections over which messages are accepted. */
const CLIENTS = 16;
export const PATIENCE_MS = 120_000;

export interface Sender extends FilledTenant {
  readonly token: string;
}

export const phoneNumberIdOf = ({ id }: Pick<FilledTenant, 'id'>): string => String(10_000_000 + id);

/** A tenant whose channel the emulated network knows, and whose webhooks the gateway takes. */
export async function addSender(
  { pool }: Fixture,
  network: string,
  index: number,
  contacts: number,
  messagesPerSecond = 1_000,
): Promise<Sender> {
  const tenant = await addTenant(pool, `lanes-${index}`, contacts);
  const [accessToken, phoneNumberId] = [`access-${index}`, phoneNumberIdOf(tenant)];
  const secrets = createSecretBox({ current: Buffer.from(SECRET_KEY, 'base64') });
  await pool.query(
    `update channels set access_token_sealed = $2, app_secret_sealed = $3, messages_per_second = $4, phone_number_id = $5
     where tenant_id = $1`,
    [tenant.id, secrets.seal(accessToken), secrets.seal(APP_SECRET), messagesPerSecond, phoneNumberId],
  );
  await pool.query(
    'insert into channel_numbers (phone_number_id, tenant_id, channel_id) select phone_number_id, tenant_id, id from channels where tenant_id = $1',
    [tenant.id],
  );
  const number = {
    phoneNumberId,
    wabaId: String(20_000_000 + tenant.id),
    displayPhoneNumber: '+1 555 078 0000',
    verifiedName: tenant.slug,
    accessToken,
    messagesPerSecond,
  };
  const answer = await fetch(`${network}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(number) });
  if (!answer.ok) throw new Error(`The emulator did not take a number: ${await answer.text()}`);
  await answer.text();
  return { ...tenant, token: await addToken(pool, tenant) };
}

/** @param person which of the tenant's contacts */
const textTo = (server: Server, { token }: Sender, person: number) =>
  rawRequest(
    `${server.url}/api/v2/messages/text`,
    'POST',
    { authorization: `Bearer ${token}`, prefer: 'respond-async' },
    JSON.stringify({ phone: `+${FIRST_PHONE + person}`, message: 'Your order is on its way.' }),
  );

/** Sends one message of each over a few connections. */
export async function accept(server: Server, senders: readonly Sender[], person = 0): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const connection = await open(server.url);
      try {
        for (let sender = senders[next++]; sender; sender = senders[next++])
          await connection.ask(textTo(server, sender, person));
      } finally {
        connection.close();
      }
    }),
  );
}

export async function sentReport(network: string, limit: number): Promise<SentReport> {
  return (await (await fetch(`${network}/_emulator/sent?limit=${limit}`)).json()) as SentReport;
}

export async function sentAfter(network: string, total: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while ((await sentReport(network, 0)).total < total) {
    if (performance.now() > deadline) throw new Error(`The network did not get ${total} messages.`);
    await sleep(50);
  }
}

/** What waits is not sent while the outbox is held, as after `parley restore-log`. */
export const setHold = ({ pool }: Fixture, isHeld: boolean) =>
  pool.query(
    'update log_origin set written_by = pg_current_xact_id(), outbox_held_at = case when $1 then clock_timestamp() end',
    [isHeld],
  );
