import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CampaignGround, type Sender, startCampaignGround } from '../features/campaigns/ground.ts';
import { eventually } from '../support/gateway.ts';
import { run } from './program.ts';

let ground: CampaignGround;
let sender: Sender;
let directory: string;
beforeAll(async () => {
  ground = await startCampaignGround();
  sender = await ground.sender();
  directory = await mkdtemp(join(tmpdir(), 'parley-cli-campaign-'));
});
afterAll(async () => {
  await ground.gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const parley = (...args: string[]) =>
  run(directory, ['campaign', ...args], {
    DATABASE_URL: ground.gateway.database.url,
    PARLEY_SECRET_KEY: ground.gateway.secretKey,
  });

/** What was printed as JSON, behind the lines of the progress. */
const jsonOf = ({ output }: { readonly output: string }): unknown => JSON.parse(output.slice(output.indexOf('[\n')));

test('parley campaign previews, starts, follows, pauses, resumes, cancels and lists campaigns', async () => {
  const { groupId } = await sender.people(3);
  const audience = { groupIds: [groupId] };
  const [id, other] = [await sender.campaign({ audience }), await sender.campaign({ name: 'Slow', audience })];
  const preview = await parley('preview', sender.slug, id, '--json');
  expect(jsonOf(preview)).toMatchObject([{ audience: 3, recipients: 3, cost: 'unknown' }]);
  const started = await parley('start', sender.slug, id, '--follow', '--json');
  expect(started.output).toContain('completed 100 %');
  expect(jsonOf(started)).toMatchObject([{ status: 'completed', recipients: 3 }]);
  const again = await parley('start', sender.slug, id);
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('completed')]);
  const later = await parley('start', sender.slug, other, '--at', '2099-01-01T00:00:00Z', '--json');
  expect(jsonOf(later)).toMatchObject([{ status: 'scheduled' }]);
  const refused = await parley('pause', sender.slug, other);
  expect(refused.code).toBe(1);
  const cancelled = await parley('cancel', sender.slug, other, '--json');
  expect(jsonOf(cancelled)).toMatchObject([{ status: 'cancelled' }]);
  await eventually(async () => {
    const list = await parley('list', sender.slug, '--json');
    expect(jsonOf(list)).toMatchObject([
      { name: 'Slow', status: 'cancelled' },
      { name: 'News', status: 'completed', read: 3 },
    ]);
  });
  const exported = await parley('export', sender.slug, id);
  expect([exported.code, exported.output.split('\r\n')[0]]).toEqual([
    0,
    expect.stringMatching(/^contact_id,firstname,.*,opted_out$/),
  ]);
  expect(exported.output.match(/,read,/g)).toHaveLength(3);
  const file = join(directory, 'failed.json');
  const failed = await parley('export', sender.slug, id, '--format', 'json', '--state', 'failed', '--out', file);
  expect([failed.output, await readFile(file, 'utf8')]).toEqual([`0 recipients written to ${file}.\n`, '[]\n']);
  expect((await parley('export', sender.slug, '999999')).output).toContain('There is no campaign 999999.');
  expect((await parley('show', sender.slug, '999999')).output).toContain('There is no campaign 999999.');
  const audit = await ground.gateway.database.query(
    `select action, author->>'name' as name from audit_log where tenant_id = $1 and action like 'campaign%' order by id`,
    [sender.id],
  );
  expect(audit).toEqual(
    ['started', 'started', 'cancelled'].map(action => ({ action: `campaign.${action}`, name: 'command line' })),
  );
});
