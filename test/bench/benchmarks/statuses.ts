import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { createSecretBox } from '../../../src/platform/crypto.ts';
import type { Options, Sample } from '../contest.ts';
import { addMessages, addTenant, settle } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { SECRET_KEY, startGateway } from '../gateway.ts';
import { printProgress } from '../output.ts';
import { postgresCpu } from '../postgres-cpu.ts';
import { atLeast, atMost, type Result } from '../report.ts';
import type { Server } from '../server.ts';

const BATCH = 1_000;
const MESSAGES = 60_000;
/** The network posts so many webhooks at the same time. */
const CONNECTIONS = 4;
const APP_SECRET = 'bench-app-secret';
const CONTACTS = 10_000;

/**
 * Status webhooks of the network, 1,000 updates each, as after a campaign: signed, over HTTP. Counted to where each is stored and answered 200,
 * and to where every message has its status and its event is in the log.
 */
export async function statuses(fixture: Fixture, options: Options): Promise<Result> {
  printProgress(`statuses: filling ${MESSAGES} messages, starting the gateway …`);
  const tenant = await addTenant(fixture.pool, 'statuses', CONTACTS);
  await addMessages(fixture.pool, tenant, MESSAGES, { events: false });
  const secret = createSecretBox({ current: Buffer.from(SECRET_KEY, 'base64') }).seal(APP_SECRET);
  await fixture.pool.query('update channels set app_secret_sealed = $1, access_token_sealed = $1', [secret]);
  await fixture.pool.query(
    'insert into channel_numbers (phone_number_id, tenant_id, channel_id) select phone_number_id, tenant_id, id from channels',
  );
  await fixture.pool.query(`
    update messages set direction = 'outbound';
    update message_states set status = 'sent', delivered_at = null, read_at = null, failed_at = null;
    update message_updates set status = 'sent'`);
  await settle(fixture.pool);
  const { rows } = await fixture.pool.query<{ id: string; wamid: string }>(
    'select message_id as id, wamid from message_states order by message_id',
  );
  const server = await startGateway(fixture, [], 'all');
  try {
    const taken: Sample[] = [];
    const applied: Sample[] = [];
    // Every message takes two steps; a round is a step of half of them.
    const rounds = (['delivered', 'read'] as const).flatMap(status =>
      [0, 1].map(half => ({ status, messages: rows.filter((_, index) => index % 2 === half) })),
    );
    for (const [index, { status, messages }] of rounds.entries()) {
      const bodies: string[] = [];
      for (let at = 0; at < messages.length; at += BATCH)
        bodies.push(webhook(tenant.id, status, messages.slice(at, at + BATCH)));
      const sample = await round(fixture, server, bodies, messages.length);
      printProgress(
        `  ${status}: ${Math.round(sample.taken.perSecond)}/s taken in, ${Math.round(sample.applied.perSecond)}/s applied`,
      );
      if (index === 0) continue;
      taken.push(sample.taken);
      applied.push(sample.applied);
    }
    const { rows: left } = await fixture.pool.query<{ count: number }>(
      `select count(*)::int as count from message_states where status <> 'read'`,
    );
    if (left[0]?.count !== 0) throw new Error(`${left[0]?.count} messages did not become read.`);
    const samples = new Map([
      ['stored and answered 200', middle(taken)],
      ['messages and events written', middle(applied)],
    ]);
    return {
      title: `statuses: webhooks of ${BATCH} status updates, ${CONNECTIONS} at a time (figures are for one update; ${options.rounds} rounds are not needed: each message can take a step once)`,
      samples,
      goals: [
        atLeast(
          'updates taken in per second / 20,000',
          (samples.get('stored and answered 200')?.perSecond ?? 0) / 20_000,
          1,
        ),
        atLeast(
          'updates applied per second / 20,000',
          (samples.get('messages and events written')?.perSecond ?? 0) / 20_000,
          1,
        ),
        atMost(
          'process CPU of an update, ms',
          (samples.get('messages and events written')?.serverCpu ?? Number.NaN) / 1_000,
          0.03,
        ),
        atMost(
          'PostgreSQL CPU of an update, ms',
          (samples.get('messages and events written')?.databaseCpu ?? Number.NaN) / 1_000,
          0.045,
        ),
      ],
    };
  } finally {
    await server.stop();
  }
}

async function round(
  fixture: Fixture,
  server: Server,
  bodies: readonly string[],
  updates: number,
): Promise<{ taken: Sample; applied: Sample }> {
  const before = { server: await server.cpu(), database: await postgresCpu(fixture.pool) };
  const started = performance.now();
  const waiting = [...bodies];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
        const answer = await fetch(`${server.url}/network/cloud-api/webhook`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(body), APP_SECRET) },
          body,
        });
        if (answer.status !== 200) throw new Error(`A webhook was answered ${answer.status}: ${await answer.text()}`);
        await answer.text();
      }
    }),
  );
  const takenSeconds = (performance.now() - started) / 1_000;
  for (;;) {
    const { rows } = await fixture.pool.query<{ count: number }>('select count(*)::int as count from waiting_webhooks');
    if (rows[0]?.count === 0) break;
    await sleep(5);
  }
  const appliedSeconds = (performance.now() - started) / 1_000;
  const after = { server: await server.cpu(), database: await postgresCpu(fixture.pool) };
  const sample = (seconds: number, whole: boolean): Sample => ({
    perSecond: updates / seconds,
    serverCpu: whole ? (after.server - before.server) / updates : undefined,
    databaseCpu:
      whole && before.database !== undefined && after.database !== undefined
        ? (after.database - before.database) / updates
        : undefined,
    p50: undefined,
    p99: undefined,
  });
  return { taken: sample(takenSeconds, false), applied: sample(appliedSeconds, true) };
}

function middle(samples: readonly Sample[]): Sample {
  const sorted = [...samples].sort((a, b) => a.perSecond - b.perSecond);
  const sample = sorted[sorted.length >> 1];
  if (!sample) throw new Error('Nothing was measured.');
  return sample;
}

/** As the network writes it (cloud-api §9), with our id echoed, as it is for all that we sent. */
const webhook = (tenantId: number, status: string, messages: readonly { id: string; wamid: string }[]): string =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: `bench-waba-${tenantId}`,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550780000', phone_number_id: `bench-${tenantId}` },
              statuses: messages.map(({ id, wamid }) => ({
                id: wamid,
                status,
                timestamp: String(Math.floor(Date.now() / 1_000)),
                recipient_id: '14155550123',
                biz_opaque_callback_data: id,
                conversation: { id: 'c0ffee', origin: { type: 'utility' } },
                pricing: { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' },
              })),
            },
          },
        ],
      },
    ],
  });
