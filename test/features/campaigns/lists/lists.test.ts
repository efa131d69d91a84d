import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignGround, type Sender, startCampaignGround } from '../ground.ts';

let ground: CampaignGround;
let sender: Sender;
beforeAll(async () => {
  ground = await startCampaignGround();
  sender = await ground.sender();
});
afterAll(() => ground.gateway.stop());

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
    ground.gateway.database.query<{ contact_id: string }>(
      'select contact_id::text from campaign_list_rows where tenant_id = $1 and list_id = $2 order by id',
      [sender.id, Number(list.databaseId)],
    );
  dataOf(await sender.mutate('mergeContacts', { id: survivor, fromIds: [former] }));
  expect(await rows()).toEqual([{ contact_id: survivor }, { contact_id: survivor }]);
  dataOf(await sender.mutate('deleteContact', { id: survivor }));
  expect(await rows()).toEqual([]);
});
