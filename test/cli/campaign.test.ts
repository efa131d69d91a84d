import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../features/campaigns/fixture.ts';
import { dataOf } from '../support/answers.ts';
import { eventually } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { run } from './program.ts';

let fixture: CampaignFixture;
let sender: Sender;
let directory: string;
beforeAll(async () => {
  fixture = await startCampaignFixture();
  sender = await fixture.sender();
  directory = await mkdtemp(join(tmpdir(), 'parley-cli-campaign-'));
});
afterAll(async () => {
  await fixture.gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const parley = (...args: string[]) =>
  run(directory, ['campaign', ...args], {
    DATABASE_URL: fixture.gateway.database.url,
    PARLEY_SECRET_KEY: fixture.gateway.secretKey,
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
  expect(started.output).toContain('3 of 3 recipients · completed');
  expect(jsonOf(started)).toMatchObject([{ status: 'completed', recipients: 3 }]);
  const again = await parley('start', sender.slug, id);
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('completed')]);
  const past = await parley('start', sender.slug, other, '--at', '2020-01-01T00:00:00Z');
  expect(past.output).toMatch(/^--at: Must be in the future\.$/m);
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
  const audit = await fixture.gateway.database.query(
    `select action, author->>'name' as name from audit_log where tenant_id = $1 and action like 'campaign%' order by id`,
    [sender.id],
  );
  expect(audit).toEqual(
    ['started', 'started', 'cancelled'].map(action => ({ action: `campaign.${action}`, name: 'command line' })),
  );
});

test('parley campaign upload checks a CSV file, and stores it as a list without its faulty rows', async () => {
  const [ana, bo] = [newPhone(), newPhone()];
  const file = join(directory, 'Fair.csv');
  await writeFile(file, `Mobile;Vorname;Text\n${ana};Ana;"one ""two"";\nthree"\n12;Nobody;x\n${bo};Bo;y\n${bo};Bo;z\n`);
  const upload = (...args: string[]) =>
    parley('upload', sender.slug, file, '--map', 'phone=Mobile', '--map', 'firstName=Vorname', ...args);
  const lists = async () =>
    dataOf(await sender.ask('{ recipientLists { nodes { databaseId name rowCount errors { row } } } }')).recipientLists
      .nodes;
  const checked = await upload('--dry-run', '--json');
  expect(jsonOf(checked)).toMatchObject([
    {
      rows: 3,
      new_contacts: 2,
      duplicates: 1,
      errors: 1,
      errors_by_row: [{ row: 2, message: 'Has no valid phone number.' }],
      samples: [{ Vorname: 'Ana', Text: 'one "two";\nthree' }, { Vorname: 'Bo' }, { Vorname: 'Bo' }],
    },
  ]);
  expect(await lists()).toEqual([]);
  const uploaded = await upload();
  expect([uploaded.code, uploaded.output]).toEqual([0, expect.stringContaining('Has no valid phone number.')]);
  expect(await lists()).toMatchObject([{ name: 'Fair', rowCount: 3, errors: [{ row: 2 }] }]);
  const faulty = await parley('upload', sender.slug, file, '--map', 'phone=Telefon');
  expect([faulty.code, faulty.output]).toEqual([1, expect.stringContaining('There is no column "Telefon".')]);
  const odd = await upload('--map', 'shoe=size');
  expect([odd.code, odd.output]).toEqual([1, expect.stringContaining('Must be field=column')]);
});

test('parley campaign upload reads UTF-16, and refuses a file whose names it cannot read', async () => {
  const phone = newPhone();
  const file = join(directory, 'Excel.csv');
  const text = `phone,Vorname\r\n${phone},Zoë\r\n`;
  const upload = () => parley('upload', sender.slug, file, '--map', 'firstName=Vorname', '--dry-run', '--json');
  await writeFile(file, `\uFEFF${text}`, 'utf16le');
  expect(jsonOf(await upload())).toMatchObject([{ rows: 1, errors: 0, samples: [{ Vorname: 'Zoë' }] }]);
  // As Excel writes "CSV" in western Europe: Windows-1252.
  await writeFile(file, text, 'latin1');
  const refused = await upload();
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('is not a text in UTF-8')]);
});

test('parley campaign upload reads a file that is larger than its memory', async () => {
  const file = join(directory, 'Large.csv');
  const line = `none,${'x'.repeat(1_000)}\n`;
  // No row is a person: it takes no time in the database.
  await writeFile(file, `phone,text\n${line.repeat(30_000)}`);
  const environment = {
    DATABASE_URL: fixture.gateway.database.url,
    PARLEY_SECRET_KEY: fixture.gateway.secretKey,
    NODE_OPTIONS: '--max-old-space-size=100',
  };
  const checked = await run(directory, ['campaign', 'upload', sender.slug, file, '--dry-run', '--json'], environment);
  expect(checked.code).toBe(0);
  expect(jsonOf(checked)).toMatchObject([{ rows: 0, errors: 30_000 }]);
});

test('a list of several parts appears when all are stored: an interrupted upload leaves none to send to', async () => {
  const file = join(directory, 'Long.csv');
  const phone = newPhone();
  await writeFile(file, `phone\n${`${phone}\n`.repeat(10_001)}`);
  const { database } = fixture.gateway;
  const lists = async () =>
    dataOf(await sender.ask('{ recipientLists(search: "Long") { nodes { name rowCount } } }')).recipientLists.nodes;
  await database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'interrupted'; end $$`,
  );
  await database.query(
    'create trigger refuse before update on campaign_lists for each row when (new.row_count > 10000) execute function refuse()',
  );
  const interrupted = await parley('upload', sender.slug, file);
  expect([interrupted.code, interrupted.output]).toEqual([1, expect.stringContaining('interrupted')]);
  expect(await lists()).toEqual([]);
  await database.query('drop trigger refuse on campaign_lists');
  expect((await parley('upload', sender.slug, file)).code).toBe(0);
  expect(await lists()).toEqual([{ name: 'Long', rowCount: 10_001 }]);
});

test('parley campaign list prints all campaigns, however many there are', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(1);
  await of.campaign({ name: 'First', audience: { groupIds: [groupId] } });
  await fixture.gateway.database.query(
    `insert into campaigns (tenant_id, name, template, audience, author, status)
     select c.tenant_id, 'Copy ' || n, c.template, c.audience, c.author, c.status
     from campaigns c, generate_series(1, 200) n where c.tenant_id = $1`,
    [of.id],
  );
  const rows = jsonOf(await parley('list', of.slug, '--json')) as { name: string }[];
  expect([rows.length, rows.at(0)?.name, rows.at(-1)?.name]).toEqual([201, 'Copy 200', 'First']);
});

test('the samples of a preview do not command the terminal: a name may hold control characters', async () => {
  const { groupId } = await sender.people(1, { firstName: '\u001B[2JAna' });
  const template = { name: 'sale', language: 'en', body: ['@{contact_first_name}', 'A1'] };
  const id = await sender.campaign({ template, audience: { groupIds: [groupId] } });
  const { output } = await parley('preview', sender.slug, id);
  expect(output).toContain('\nHello \\u001B[2JAna, your code is A1.\n');
});
