import { builder } from '../../../schema/builder.ts';
import { payloadOf, queryPayload } from '../../../schema/payload.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import { Contact } from '../../contacts/schema.ts';
import { MAX_LIST } from './list-row.ts';
import { type ListPreview, type ListSample, previewList } from './preview.ts';
import { CSV, ListErrorType, MappingInputType } from './schema.ts';

const FieldType = builder.objectRef<{ readonly name: string; readonly value: string }>('RecipientListField').implement({
  description: 'A field of a contact, filled by a column.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name of the field in `RecipientListMappingInput`.' }),
    value: t.exposeString('value', { description: 'Value that the new contact would have in the field.' }),
  }),
});

const SampleType = builder.objectRef<ListSample>('RecipientListSample').implement({
  description: 'A row that would be a person of the list.',
  fields: t => ({
    row: t.exposeInt('rowNumber', { description: 'Number of the row, from 1, without the line of column names.' }),
    phone: t.exposeString('phone', { description: 'Phone number of the row in international format.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact that has the number; null if the upload would create it.',
      authScopes: { scope: 'contacts:read' },
      resolve: async ({ contactId }, _args, context) =>
        contactId === null ? null : ((await contactLoader(context).load(contactId)) ?? null),
    }),
    fields: t.field({
      type: [FieldType],
      description: 'Fields that the new contact would have; empty for a contact that exists.',
      extensions: { listSize: 6 },
      resolve: ({ fields }) =>
        Object.entries(fields).flatMap(([name, value]) => (value === '' ? [] : [{ name, value }])),
    }),
    values: t.stringList({
      description: 'Values of the row, in the order of the columns.',
      resolve: ({ values }) => [...values],
    }),
  }),
});

const PreviewPayload = payloadOf<{ preview: ListPreview }>(
  'RecipientListPreviewPayload',
  'What the upload of a list would do.',
  t => ({
    preview: t.field({
      type: builder.objectRef<ListPreview>('RecipientListPreview').implement({
        description: 'What the upload of a list would do.',
        fields: f => ({
          columns: f.stringList({ description: 'Names of the columns.', resolve: ({ columns }) => [...columns] }),
          rowCount: f.exposeInt('rows', { description: 'Rows that would be people of the list.' }),
          newContactCount: f.exposeInt('newContacts', { description: 'Contacts that the upload would create.' }),
          duplicateCount: f.exposeInt('duplicates', {
            description: 'Rows of people who are in an earlier row, too. A campaign sends them one message.',
          }),
          errorCount: f.exposeInt('errorCount', { description: 'Rows that would be left out.' }),
          errors: f.field({
            type: [ListErrorType],
            description: `The rows that would be left out, at most ${MAX_LIST.errors} of them.`,
            extensions: { listSize: 20 },
            resolve: ({ errors }) => [...errors],
          }),
          samples: f.field({
            type: [SampleType],
            description: 'The first three rows that would be people.',
            extensions: { listSize: 3 },
            resolve: ({ samples }) => [...samples],
          }),
        }),
      }),
      nullable: true,
      description: 'What would happen; null if the file cannot be read.',
      resolve: ({ preview }) => preview ?? null,
    }),
  }),
);

queryPayload('previewRecipientList', {
  description:
    'Shows what `createRecipientList` would do with a file: which contacts it would create, and the faults of its rows. Changes nothing. Costs ten points of the rate limit.',
  scope: ['campaigns:write', 'contacts:write'],
  points: 10,
  input: builder.inputType('PreviewRecipientListInput', {
    description: 'A file to check.',
    fields: t => ({
      csv: t.string({ required: true, description: CSV }),
      mapping: t.field({
        type: MappingInputType,
        description: 'Which columns have which fields. Default: the number is in the column `phone`.',
      }),
    }),
  }),
  payload: PreviewPayload,
  resolve: async (input, context) => ({ preview: await previewList(context, input) }),
});
