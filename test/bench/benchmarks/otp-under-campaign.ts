import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TemplateSeed } from '../../../src/emulator/template-store.ts';
import { killAll, setWebhookUrl, startEmulatorProcess } from '../../support/processes.ts';
import { optIn } from '../backlog.ts';
import type { Sample } from '../contest.ts';
import { addTemplateOf, FIRST_PHONE } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { startGateway } from '../gateway.ts';
import { open, rawRequest } from '../load.ts';
import { printProgress } from '../output.ts';
import { atMost, type Result } from '../report.ts';
import { addSender, type Sender, sentReport } from '../senders.ts';
import type { Server } from '../server.ts';

const RECIPIENTS = Number(process.env['PARLEY_BENCH_BACKLOG'] ?? 100_000);
/** Of the number on which the campaign runs. */
const PER_SECOND = 80;
const CODES = 150;
const TEXTS = 300;
const PAUSE_MS = 100;
const PATIENCE_MS = 120_000;
/** The people of the codes, behind those of the campaign. */
const CODES_FROM = FIRST_PHONE + 5_000_000;

const NEWS: TemplateSeed = {
  name: 'bench_news',
  language: 'en',
  category: 'MARKETING',
  components: [{ type: 'BODY', text: 'Our new opening hours.' }],
};
const CODE: TemplateSeed = {
  name: 'bench_code',
  language: 'en',
  category: 'AUTHENTICATION',
  components: [
    { type: 'BODY', add_security_recommendation: true },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'URL', text: 'Copy code', url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}' },
      ],
    },
  ],
};

/**
 * From the request of a one-time password to its arrival at the network, and the answers to another tenant's texts: with nothing else to do,
 * and while a campaign runs on the number of the passwords.
 */
export async function otpUnderCampaign(fixture: Fixture): Promise<Result> {
  const children = new Set<ChildProcess>();
  const faults = { window: 'open', pairLimit: false, throughputLimit: false, latencyMs: 20 } as const;
  const network = await startEmulatorProcess(children, [], faults);
  const env = { PARLEY_NETWORK_URL: network };
  const gateway = await startGateway(fixture, [], 'gateway', env);
  const worker = await startGateway(fixture, [], 'worker', env);
  try {
    await setWebhookUrl(network, gateway.url);
    printProgress(`otp-under-campaign: filling ${RECIPIENTS} contacts …`);
    const sender = await addSender(fixture, network, 0, RECIPIENTS, PER_SECOND);
    const other = await addSender(fixture, network, 1, TEXTS);
    await optIn(fixture);
    for (const template of [NEWS, CODE]) {
      await addTemplateOf(fixture.pool, sender, template);
      await addToNetwork(network, sender, template);
    }
    // Code gets hot.
    await Promise.all([codes(gateway, network, sender, 20), texts(gateway, other, 50)]);
    const [idleCodes, idleTexts] = await Promise.all([
      codes(gateway, network, sender, CODES),
      texts(gateway, other, TEXTS),
    ]);
    printProgress(`  idle: codes p99 ${idleCodes.p99?.toFixed(0)} ms, texts p99 ${idleTexts.p99?.toFixed(0)} ms`);
    await startCampaign(fixture, network, sender);
    const [busyCodes, busyTexts] = await Promise.all([
      codes(gateway, network, sender, CODES),
      texts(gateway, other, TEXTS),
    ]);
    printProgress(`  campaign: codes p99 ${busyCodes.p99?.toFixed(0)} ms, texts p99 ${busyTexts.p99?.toFixed(0)} ms`);
    const { rows } = await fixture.pool.query<{ waiting: number }>(
      `select count(*)::int as waiting from campaign_recipients where tenant_id = $1 and message_id is null`,
      [sender.id],
    );
    if (rows[0]?.waiting === 0) throw new Error('The campaign was over before the end of the measurement.');
    return {
      title: `otp-under-campaign: a campaign to ${RECIPIENTS} contacts at ${PER_SECOND} a second`,
      samples: new Map([
        ['codes to the network, idle', idleCodes],
        ['codes to the network, campaign', busyCodes],
        ["another tenant's texts, idle", idleTexts],
        ["another tenant's texts, campaign", busyTexts],
      ]),
      goals: [
        atMost('p99 ms of a code from the request to the network / 250', (busyCodes.p99 ?? Number.NaN) / 250, 1),
        atMost(
          'median of a code in a campaign / with nothing else to do',
          (busyCodes.p50 ?? Number.NaN) / (idleCodes.p50 ?? Number.NaN),
          1.5,
        ),
        atMost(
          "p99 of another tenant's texts / with nothing else to do",
          (busyTexts.p99 ?? Number.NaN) / (idleTexts.p99 ?? Number.NaN),
          1.5,
        ),
      ],
      notes: ['The load generator, both processes, the emulated network and PostgreSQL share the machine.'],
    };
  } finally {
    await Promise.all([gateway.stop(), worker.stop()]);
    await killAll(children);
  }
}

/** Creates a template on the network, which approves it. */
async function addToNetwork(network: string, { id }: Sender, template: TemplateSeed): Promise<void> {
  const answer = await fetch(`${network}/v23.0/${20_000_000 + id}/message_templates`, {
    method: 'POST',
    headers: { authorization: 'Bearer access-0', 'content-type': 'application/json' },
    body: JSON.stringify(template),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The emulator did not take a template: ${text}`);
  const { id: templateId } = JSON.parse(text) as { id: string };
  const approved = await fetch(`${network}/_emulator/templates`, {
    method: 'POST',
    body: JSON.stringify({ id: templateId, status: 'APPROVED' }),
  });
  if (!approved.ok) throw new Error(`The emulator did not approve a template: ${await approved.text()}`);
  await approved.text();
}

let person = 0;

/** Asks for codes, one after the other, each to a number of its own. */
async function codes(server: Server, network: string, { token }: Sender, count: number): Promise<Sample> {
  const askedAt = new Map<string, number>();
  const connection = await open(server.url);
  try {
    for (let index = 0; index < count; index += 1) {
      const phone = String(CODES_FROM + person++);
      askedAt.set(phone, Date.now());
      await connection.ask(
        rawRequest(
          `${server.url}/api/v2/auth/send-otp`,
          'POST',
          { authorization: `Bearer ${token}`, prefer: 'respond-async' },
          JSON.stringify({ phone: `+${phone}`, template_name: CODE.name, language: CODE.language }),
        ),
      );
      await sleep(PAUSE_MS);
    }
  } finally {
    connection.close();
  }
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { messages } = await sentReport(network, 10_000);
    const arrived = messages.flatMap(({ to, at }) => {
      const asked = askedAt.get(to.replace(/\D/g, ''));
      return asked === undefined ? [] : [Date.parse(at) - asked];
    });
    if (arrived.length >= count) return sampleOf(arrived);
    if (performance.now() > deadline) throw new Error(`Only ${arrived.length} of ${count} codes reached the network.`);
    await sleep(200);
  }
}

/** Texts of another tenant, one after the other: milliseconds to the answer. */
async function texts(server: Server, { token }: Sender, count: number): Promise<Sample> {
  const latencies: number[] = [];
  const connection = await open(server.url);
  try {
    for (let index = 0; index < count; index += 1) {
      const began = performance.now();
      await connection.ask(
        rawRequest(
          `${server.url}/api/v2/messages/text`,
          'POST',
          { authorization: `Bearer ${token}`, prefer: 'respond-async' },
          JSON.stringify({ phone: `+${FIRST_PHONE + (index % TEXTS)}`, message: 'Your order is on its way.' }),
        ),
      );
      latencies.push(performance.now() - began);
      await sleep(PAUSE_MS / 2);
    }
  } finally {
    connection.close();
  }
  return sampleOf(latencies);
}

function sampleOf(values: readonly number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b);
  const of = (share: number): number | undefined => sorted[Math.ceil(sorted.length * share) - 1];
  return {
    perSecond: 1_000 / PAUSE_MS,
    serverCpu: undefined,
    databaseCpu: undefined,
    p50: of(0.5),
    p99: of(0.99),
  };
}

/** Starts the campaign as its mutation does, and waits until the network gets its messages. */
async function startCampaign({ pool }: Fixture, network: string, { id, channelId }: Sender): Promise<void> {
  await pool.query(
    `insert into campaigns (tenant_id, name, status, channel_id, template, audience, author)
     values ($1, 'Bench', 'running', $2, $3, '{"filter":{}}', '{"kind":"system","id":null,"name":"bench"}')`,
    [id, channelId, JSON.stringify({ name: NEWS.name, language: NEWS.language })],
  );
  const before = (await sentReport(network, 0)).total;
  const deadline = performance.now() + PATIENCE_MS;
  while ((await sentReport(network, 0)).total < before + PER_SECOND * 2) {
    if (performance.now() > deadline) throw new Error('The campaign did not begin.');
    await sleep(200);
  }
}
