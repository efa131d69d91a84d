import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../../cli/program.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
let directory: string;
beforeAll(async () => {
  [fixture, directory] = await Promise.all([startCampaignFixture(), mkdtemp(join(tmpdir(), 'parley-restored-'))]);
});
afterAll(async () => {
  await fixture.gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

async function parley(...args: string[]): Promise<string> {
  const { code, output } = await run(directory, args, {
    DATABASE_URL: fixture.gateway.database.url,
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  expect(code, output).toBe(0);
  return output;
}

const read = async (of: Sender, id: string) =>
  dataOf(await of.ask('query ($id: ID!) { campaign(id: $id) { status statusCode progress { pending sent } } }', { id }))
    .campaign;

async function campaign(of: Sender, people: number, scheduledAt?: string): Promise<string> {
  const { groupId } = await of.people(people);
  const id = await of.campaign({ audience: { groupIds: [groupId] }, messagesPerSecond: 1, firstWave: 1_000 });
  dataOf(await of.mutate('startCampaign', { id, ...(scheduledAt && { scheduledAt }) }));
  return id;
}

test('when messages of a backup are cancelled, its campaigns send nothing more to people who may have got theirs since', async () => {
  const of = await fixture.sender();
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const running = await campaign(of, 60);
  const due = await campaign(of, 3, inAnHour);
  const later = await campaign(of, 3, inAnHour);
  await eventually(async () => expect((await read(of, running)).progress.sent).toBeGreaterThan(0));

  await parley('restore-log', '--force');
  await fixture.gateway.database.query(
    `update campaigns set scheduled_at = now() - interval '1 minute' where id = $1`,
    [due],
  );
  const cutOff = new Date().toISOString();
  expect(await parley('outbox', 'release', '--cancel-before', cutOff)).toContain('stopped 2 campaigns');

  expect(await read(of, running)).toMatchObject({ status: 'PAUSED', statusCode: 'RESTORED' });
  expect(await read(of, due)).toMatchObject({ status: 'FAILED', statusCode: 'RESTORED', progress: { sent: 0 } });
  expect(await read(of, later)).toMatchObject({ status: 'SCHEDULED', statusCode: null });
  const events = await fixture.gateway.database.query<{ type: string; code: string }>(
    `select type, payload->'reason'->>'code' as code from events where tenant_id = $1 and type in ('campaign.paused', 'campaign.failed') order by type`,
    [of.id],
  );
  expect(events).toEqual([
    { type: 'campaign.failed', code: 'RESTORED' },
    { type: 'campaign.paused', code: 'RESTORED' },
  ]);
});
