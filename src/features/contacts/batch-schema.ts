import { encodeGlobalId, parseId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import { UserError } from '../../schema/user-errors.ts';
import { type Batch, type BatchResult, MAX_BATCH } from './batch.ts';
import { deleteContacts, MAX_CHANGES, updateContacts } from './change-batch.ts';
import { createContacts } from './create-batch.ts';
import { ContactInput } from './inputs.ts';
import { Contact } from './schema.ts';

export const BatchPolicy = builder.enumType('BatchPolicy', {
  description: 'What a batch does when a row has an error.',
  values: {
    CONTINUE: { value: 'continue', description: 'Rows without errors are written.' },
    ROLL_BACK: { value: 'roll_back', description: 'Nothing is written.' },
  } as const,
});

export const BatchOutcome = builder.enumType('BatchOutcome', {
  description: 'What became of a row of a batch.',
  values: {
    CREATED: { value: 'created', description: 'A new object.' },
    UPDATED: { value: 'updated', description: 'Changed, or had these values already.' },
    DELETED: { value: 'deleted', description: 'The object is gone.' },
    SKIPPED: { value: 'skipped', description: 'Exists already (`skipDuplicates`).' },
    FAILED: { value: 'failed', description: 'Has errors, and was not written.' },
    ROLLED_BACK: { value: 'rolled_back', description: 'Undone, or not begun, because another row has an error.' },
  } as const,
});

/** How many rows had which outcome. */
export const BatchSummary = builder
  .objectRef<{ readonly results: readonly Pick<BatchResult, 'outcome'>[]; readonly isRolledBack: boolean }>(
    'BatchSummary',
  )
  .implement({
    description: 'How many rows of a batch had which outcome.',
    fields: t => ({
      total: t.int({ description: 'Number of rows.', resolve: ({ results }) => results.length }),
      succeeded: t.int({
        description: 'Rows that were created, updated or deleted.',
        resolve: ({ results }) => results.filter(({ outcome }) => SUCCESS.has(outcome)).length,
      }),
      skipped: t.int({
        description: 'Duplicates that were skipped.',
        resolve: ({ results }) => results.filter(({ outcome }) => outcome === 'skipped').length,
      }),
      failed: t.int({
        description: 'Rows with errors, and rows that were rolled back.',
        resolve: ({ results }) =>
          results.filter(({ outcome }) => outcome === 'failed' || outcome === 'rolled_back').length,
      }),
      isRolledBack: t.exposeBoolean('isRolledBack', { description: 'Whether an error undid the whole batch.' }),
    }),
  });

const SUCCESS: ReadonlySet<string> = new Set(['created', 'updated', 'deleted']);

const ContactResult = builder.objectRef<BatchResult>('ContactResult').implement({
  description: 'What became of one row of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the row in the input, from 0.' }),
    outcome: t.expose('outcome', { type: BatchOutcome, description: 'What became of the row.' }),
    contact: t.expose('contact', {
      type: Contact,
      nullable: true,
      description: 'The contact after the mutation; null if it was deleted or nothing was written.',
    }),
    userErrors: t.field({
      type: [UserError],
      description: 'Why it was not written.',
      resolve: ({ userErrors }) => [...userErrors],
    }),
  }),
});

const ContactBatchPayload = payloadOf<Batch>('ContactBatchPayload', 'Result of a batch of contacts.', t => ({
  summary: t.field({
    type: BatchSummary,
    nullable: true,
    description: 'How many rows had which outcome; null if the input as a whole was refused.',
    resolve: ({ results, isRolledBack = false }) => results && { results, isRolledBack },
  }),
  results: t.field({
    type: [ContactResult],
    description: 'What became of each row, in the order of the input.',
    args: {
      outcomes: t.arg({ type: [BatchOutcome], description: 'Returns only rows with these outcomes.' }),
    },
    resolve: ({ results = [] }, { outcomes }) =>
      outcomes ? results.filter(({ outcome }) => outcomes.includes(outcome)) : [...results],
  }),
  deletedIds: t.idList({
    description: 'Global ids of the deleted contacts, each once.',
    resolve: ({ deletedIds = [] }, _args, context) =>
      deletedIds.map(id => encodeGlobalId('Contact', tenantOf(context), id)),
  }),
}));

const options = (t: InputFields) => ({
  onError: t.field({
    type: BatchPolicy,
    required: true,
    defaultValue: 'continue',
    description: 'What to do when a row has an error.',
  }),
  isDryRun: t.boolean({
    required: true,
    defaultValue: false,
    description: 'Returns the outcomes that the batch would have, and writes nothing.',
  }),
  idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
});

const ids = (t: InputFields, maximum: number) =>
  t.idList({ required: true, description: `Global ids or databaseIds of 1 to ${maximum} contacts.` });

/** @returns -1, which no contact has, for text that is no id */
const idsOf = (context: Context, texts: readonly string[]): number[] =>
  texts.map(text => parseId(tenantOf(context), 'Contact', String(text)) ?? -1);

mutation('createContacts', {
  description:
    'Creates up to 1,000 contacts in one transaction. A row is a duplicate if its phone number exists in the tenant or earlier in the batch.',
  scope: 'contacts:write',
  input: builder.inputType('CreateContactsInput', {
    description: 'New contacts, created in one transaction.',
    fields: t => ({
      contacts: t.field({ type: [ContactInput], required: true, description: `1 to ${MAX_BATCH} contacts.` }),
      skipDuplicates: t.boolean({
        required: true,
        defaultValue: false,
        description: 'Skips rows whose phone number exists already, instead of refusing them.',
      }),
      ...options(t),
    }),
  }),
  payload: ContactBatchPayload,
  resolve: (input, context) => createContacts(context, input),
});

mutation('updateContacts', {
  description: 'Sets the same values for up to 500 contacts in one transaction.',
  scope: 'contacts:write',
  input: builder.inputType('UpdateContactsInput', {
    description: 'Contacts, and the values that all of them get.',
    fields: t => ({
      ids: ids(t, MAX_CHANGES),
      set: t.field({
        type: ContactInput,
        required: true,
        description: 'Fields to change, apart from phone number and e-mail address, which are unique.',
      }),
      ...options(t),
    }),
  }),
  payload: ContactBatchPayload,
  resolve: (input, context) => updateContacts(context, { ...input, ids: idsOf(context, input.ids) }),
});

mutation('deleteContacts', {
  description:
    'Erases up to 1,000 contacts with their conversations and messages in one transaction, as `eraseContact` does.',
  scope: 'contacts:delete',
  input: builder.inputType('DeleteContactsInput', {
    description: 'The contacts to delete.',
    fields: t => ({ ids: ids(t, MAX_BATCH), ...options(t) }),
  }),
  payload: ContactBatchPayload,
  resolve: (input, context) => deleteContacts(context, { ...input, ids: idsOf(context, input.ids) }),
});
