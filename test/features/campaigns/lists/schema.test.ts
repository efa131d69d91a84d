import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
let sender: Sender;
beforeAll(async () => {
  fixture = await startCampaignFixture();
  sender = await fixture.sender();
});
afterAll(() => fixture.gateway.stop());

const LIST = 'databaseId name columns rowCount errorCount errors { row message }';
const create = (input: object) => sender.mutate('createRecipientList', input, `recipientList { ${LIST} }`);

test('an uploaded file becomes contacts with mapped names, rows with faults are listed, and contacts that exist stay as they are', async () => {
  const [one, two] = [newPhone(), newPhone()];
  await sender.mutate('createContact', { phone: two, firstName: 'Known' });
  const csv = `Mobile;Vorname;Zone;Code\n${one};Ana;Asia/Tokyo;A1\n12;Nobody;;B2\n${two};Changed;Asia/Tokyo;C3\n${newPhone()};Bo;Mars;D4\n`;
  const { recipientList: list } = payloadOf(
    await create({ name: 'Fair', csv, mapping: { phone: 'Mobile', firstName: 'Vorname', timeZone: 'Zone' } }),
  );
  expect(list).toMatchObject({
    name: 'Fair',
    columns: ['Mobile', 'Vorname', 'Zone', 'Code'],
    rowCount: 2,
    errorCount: 2,
    errors: [
      { row: 2, message: 'Has no valid phone number.' },
      { row: 4, message: expect.stringMatching(/^timeZone: Must be a name/) },
    ],
  });
  const known = dataOf(
    await sender.ask(
      'query ($in: [String!]) { contacts(filter: { phone: { in: $in } }) { nodes { firstName timeZone } } }',
      {
        in: [one, two],
      },
    ),
  ).contacts.nodes;
  expect(known).toEqual([
    { firstName: 'Ana', timeZone: 'Asia/Tokyo' },
    { firstName: 'Known', timeZone: null },
  ]);

  const more = await sender.mutate(
    'addRecipientListRows',
    { id: list.databaseId, csv: `Mobile;Vorname;Zone;Code\n${newPhone()};Eva;;D4\nnone;;;\n` },
    `recipientList { ${LIST} }`,
  );
  expect(payloadOf(more).recipientList).toMatchObject({
    rowCount: 3,
    errorCount: 3,
    errors: [{ row: 2 }, { row: 4 }, { row: 6 }],
  });
  const other = await sender.mutate('addRecipientListRows', { id: list.databaseId, csv: 'Mobile;Code\n1;2' });
  expect(Object.keys(faultsOf(other))).toEqual(['csv']);

  const template = { name: 'sale', language: 'en', body: ['@{contact_first_name|you}', '@{column.Code|none}'] };
  const id = await sender.campaign({ template, audience: { listId: list.databaseId } });
  expect(codeOf(await sender.mutate('deleteRecipientList', { id: list.databaseId }))).toBe('CONFLICT');
  dataOf(await sender.mutate('deleteCampaign', { id }));
  dataOf(await sender.mutate('deleteRecipientList', { id: list.databaseId }));
});

test('a malformed file is refused with what is wrong', async () => {
  const fault = async (input: object) => faultsOf(await create({ name: 'List', ...input }));
  expect(await fault({ csv: 'phone' })).toEqual({ csv: ['Needs a line with the names of the columns, and rows.'] });
  expect(await fault({ csv: 'phone\n"1' })).toEqual({ csv: ['Has a quoted field that does not end.'] });
  expect(await fault({ csv: 'number\n1' })).toEqual({
    'mapping.phone': ['There is no column "phone". Columns: number.'],
  });
  expect(Object.keys(await fault({ csv: 'phone,phone\n1,2', name: '' }))).toEqual(['name', 'csv']);
});

test('a value or a row that is too long is an error of its row: nothing is cut', async () => {
  const columns = ['phone', ...Array.from({ length: 10 }, (_, index) => `c${index}`)];
  const long = (length: number) => Array(10).fill('ä'.repeat(length)).join(',');
  const csv = [
    columns.join(','),
    `${newPhone()},${'x'.repeat(1_025)}`,
    `${newPhone()},${'😀'.repeat(1_024)}`,
    `${newPhone()},${long(900)}`,
  ].join('\n');
  const { recipientList } = payloadOf(await create({ name: 'Long', csv }));
  expect(recipientList).toMatchObject({
    rowCount: 1,
    errors: [
      { row: 1, message: 'c0: May have at most 1024 characters, not 1025.' },
      { row: 3, message: 'The values of a row may have at most 8192 characters together, not 9014.' },
    ],
  });
});

test('merge fields of columns are not called unknown where a template has another fault, and unknown ones are', async () => {
  const of = await fixture.sender();
  const csv = `phone,code\n${newPhone()},A1`;
  const made = await of.mutate('createRecipientList', { name: 'L', csv }, 'recipientList { databaseId }');
  const listId = payloadOf(made).recipientList.databaseId;
  const template = (...body: string[]) => ({ name: 'sale', language: 'en', body });
  const fault = async (input: object) =>
    Object.keys(faultsOf(await of.mutate('createCampaign', { name: 'A', audience: { listId }, ...input }))).sort();
  expect(await fault({ template: template('@{column.code}') })).toEqual(['template.body.1']);
  expect(await fault({ template: template('@{column.none}') })).toEqual(['template.body.0', 'template.body.1']);
  expect(await fault({ template: template('@{column.none}', 'b'), firstWave: 0 })).toEqual([
    'firstWave',
    'template.body.0',
  ]);
  expect(await fault({ template: template('@{column.code}', 'b'), audience: { listId: '999999' } })).toEqual([
    'audience.listId',
  ]);
  const id = await of.campaign({ template: template('@{column.code}', 'b'), audience: { listId } });
  await fixture.gateway.database.query(`update templates set status = 'PAUSED' where tenant_id = $1`, [of.id]);
  expect(Object.keys(faultsOf(await of.mutate('startCampaign', { id })))).toEqual(['template.name']);
});

test('a row with a value beyond the columns is an error: its other values may be in the wrong ones', async () => {
  const csv = [
    'phone,name,code',
    `${newPhone()},Smith, John,SECRET`,
    `${newPhone()},"Smith, John",SECRET,, `,
    `${newPhone()},Smith`,
    `12,${'x'.repeat(1_025)},,4,5`,
  ].join('\n');
  const expected = {
    rowCount: 2,
    errorCount: 2,
    errors: [
      { row: 1, message: 'Has 4 cells, the first line has 3: quote values that contain the delimiter.' },
      { row: 4, message: 'Has 5 cells, the first line has 3: quote values that contain the delimiter.' },
    ],
  };
  const { recipientList } = payloadOf(await create({ name: 'Shifted', csv }));
  expect(recipientList).toMatchObject(expected);
  const { preview } = dataOf(
    await sender.ask(
      `query ($input: PreviewRecipientListInput!) { previewRecipientList(input: $input) {
         userErrors { code } preview { rowCount errorCount errors { row message } } } }`,
      { input: { csv } },
    ),
  ).previewRecipientList;
  expect(preview).toEqual(expected);
});

test('a row is an error or a person, also if another row of the person has a fault', async () => {
  const [one, two] = [newPhone(), newPhone()];
  const csv = `phone,zone\n${one},Mars\n${one},Asia/Tokyo\n${two},Mars\n${two},Venus\n`;
  const mapping = { phone: 'phone', timeZone: 'zone' };
  const { recipientList } = payloadOf(await create({ name: 'Twice', csv, mapping }));
  expect(recipientList).toMatchObject({ rowCount: 1, errorCount: 3, errors: [{ row: 1 }, { row: 3 }, { row: 4 }] });
});

test('an upload and a list have a limit of rows, which the error names', async () => {
  const rows = Array.from({ length: 10_001 }, () => '+4915123456789');
  expect(faultsOf(await create({ name: 'Many', csv: `phone\n${rows.join('\n')}` }))).toEqual({
    csv: ['May have at most 10000 rows, not 10001: add the others with addRecipientListRows.'],
  });
  const { recipientList } = payloadOf(await create({ name: 'Full', csv: `phone\n${newPhone()}` }));
  await fixture.gateway.database.query(
    'update campaign_lists set row_count = 999999 where tenant_id = $1 and id = $2',
    [sender.id, Number(recipientList.databaseId)],
  );
  const add = { id: recipientList.databaseId, csv: `phone\n${newPhone()}\n${newPhone()}` };
  expect(faultsOf(await sender.mutate('addRecipientListRows', add))).toEqual({
    csv: ['A list may have at most 1000000 rows; this one has 999999. Upload the others as another list.'],
  });
});

test('a preview maps and checks a file as its upload does, and writes nothing', async () => {
  const limited = await fixture.sender();
  await fixture.gateway.database.query('update tenant_usage set contacts_maximum = 4 where tenant_id = $1', [
    limited.id,
  ]);
  const [known, fresh, twice, late] = [newPhone(), newPhone(), newPhone(), newPhone()];
  await limited.mutate('createContact', { phone: known, firstName: 'Known' });
  const csv = [
    'Mobile;Vorname;Mail;Code',
    `${known};Changed;;A1`,
    `${fresh};Ana;ana@example.com;B2`,
    '12;Nobody;;C3',
    `${twice};Bo;ANA@example.com;D4`,
    `${twice};Bo;bo@example.com;E5`,
    `${twice};Bo;;F6`,
    `${newPhone()};Cy;;${'x'.repeat(1_025)}`,
    `${late};Di;;H8`,
    `${newPhone()};Ed;;I9`,
  ].join('\n');
  const input = { csv, mapping: { phone: 'Mobile', firstName: 'Vorname', email: 'Mail' } };
  const counts = async () => {
    const [row] = await fixture.gateway.database.query<{ contacts: number; lists: number; events: number }>(
      `select (select count(*)::int from contacts where tenant_id = $1) as contacts,
         (select count(*)::int from campaign_lists where tenant_id = $1) as lists,
         (select count(*)::int from events where tenant_id = $1) as events`,
      [limited.id],
    );
    return row;
  };
  const before = await counts();
  const preview = async (of: object) =>
    limited.ask(
      `query ($input: PreviewRecipientListInput!) { previewRecipientList(input: $input) { userErrors { code path message }
         preview { columns rowCount newContactCount duplicateCount errorCount errors { row message }
           samples { row phone contact { firstName } fields { name value } values } } } }`,
      { input: of },
    );
  const { previewRecipientList: answer } = dataOf(await preview(input));
  expect(answer.userErrors).toEqual([]);
  expect(answer.preview).toEqual({
    columns: ['Mobile', 'Vorname', 'Mail', 'Code'],
    rowCount: 5,
    newContactCount: 3,
    duplicateCount: 1,
    errorCount: 4,
    errors: [
      { row: 3, message: 'Has no valid phone number.' },
      { row: 4, message: expect.stringMatching(/^email: /) },
      { row: 7, message: 'Code: May have at most 1024 characters, not 1025.' },
      { row: 9, message: expect.stringContaining('The plan allows 4 contacts') },
    ],
    samples: [
      {
        row: 1,
        phone: known,
        contact: { firstName: 'Known' },
        fields: [],
        values: [known, 'Changed', '', 'A1'],
      },
      {
        row: 2,
        phone: fresh,
        contact: null,
        fields: [
          { name: 'firstName', value: 'Ana' },
          { name: 'email', value: 'ana@example.com' },
        ],
        values: [fresh, 'Ana', 'ana@example.com', 'B2'],
      },
      expect.objectContaining({ row: 5, phone: twice, contact: null }),
    ],
  });
  expect(await counts()).toEqual(before);
  const created = await limited.mutate('createRecipientList', { name: 'Real', ...input }, `recipientList { ${LIST} }`);
  const { rowCount, errorCount, errors } = answer.preview;
  expect(payloadOf(created).recipientList).toMatchObject({ rowCount, errorCount, errors });
  const faulty = (await preview({ csv: 'a,a\n1,2', mapping: { phone: 'b' } })).data?.['previewRecipientList'];
  expect(faulty.preview).toBeNull();
  expect(faulty.userErrors.map(({ path }: { path: string[] }) => path)).toEqual([['csv'], ['mapping', 'phone']]);
});

test('erasing a person removes their rows from lists, and a merge moves them to the survivor', async () => {
  const [one, two] = [newPhone(), newPhone()];
  const { recipientList: list } = payloadOf(await create({ name: 'People', csv: `phone,code\n${one},A\n${two},B` }));
  const idOf = async (phone: string) =>
    dataOf(
      await sender.ask(
        'query ($phone: String!) { contactByIdentifier(identifier: { phone: $phone }) { databaseId } }',
        { phone },
      ),
    ).contactByIdentifier.databaseId;
  const [survivor, former] = [await idOf(one), await idOf(two)];
  const rows = () =>
    fixture.gateway.database.query<{ contact_id: string }>(
      'select contact_id::text from campaign_list_rows where tenant_id = $1 and list_id = $2 order by id',
      [sender.id, Number(list.databaseId)],
    );
  dataOf(await sender.mutate('mergeContacts', { id: survivor, fromIds: [former] }));
  expect(await rows()).toEqual([{ contact_id: survivor }, { contact_id: survivor }]);
  dataOf(await sender.mutate('deleteContact', { id: survivor }));
  expect(await rows()).toEqual([]);
});

test('a list whose parts are not all uploaded is not listed, and no audience, until the last one', async () => {
  const csv = () => `phone\n${newPhone()}\n`;
  const parts = { name: 'In parts', csv: csv(), isComplete: false };
  const made = await sender.mutate('createRecipientList', parts, 'recipientList { databaseId isComplete }');
  const { databaseId: id, isComplete } = payloadOf(made).recipientList;
  expect(isComplete).toBe(false);
  const add = async (input: object) =>
    payloadOf(
      await sender.mutate(
        'addRecipientListRows',
        { id, csv: csv(), ...input },
        'recipientList { isComplete rowCount }',
      ),
    ).recipientList;
  const listed = async () =>
    dataOf(await sender.ask('{ recipientLists(search: "In parts") { nodes { databaseId } } }')).recipientLists.nodes;
  const campaign = { name: 'A', template: { name: 'notice', language: 'en' }, audience: { listId: id } };
  expect(await add({ isComplete: false })).toEqual({ isComplete: false, rowCount: 2 });
  expect(await listed()).toEqual([]);
  expect(faultsOf(await sender.mutate('createCampaign', campaign))).toEqual({
    'audience.listId': [expect.stringMatching(/is not complete/)],
  });
  expect(await add({})).toEqual({ isComplete: true, rowCount: 3 });
  expect(await listed()).toEqual([{ databaseId: id }]);
  expect(payloadOf(await sender.mutate('createCampaign', campaign, 'campaign { name }')).campaign.name).toBe('A');
  // One that is complete stays so.
  expect(await add({ isComplete: false })).toEqual({ isComplete: true, rowCount: 4 });
});

test('the numbers of one campaign are the audience of another', async () => {
  const input = { name: 'A', template: { name: 'notice', language: 'en' }, audience: { phones: [newPhone()] } };
  const selection = 'campaign { audience { list { databaseId isComplete } } }';
  const { list } = payloadOf(await sender.mutate('createCampaign', input, selection)).campaign.audience;
  expect(list.isComplete).toBe(true);
  const copy = { ...input, audience: { listId: list.databaseId } };
  expect(payloadOf(await sender.mutate('createCampaign', copy, selection)).campaign.audience.list).toEqual(list);
});
