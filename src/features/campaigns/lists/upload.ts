import { conflict, FieldErrorList, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { isLonger, isStorable, UNSTORABLE } from '../../../platform/text.ts';
import type { Context } from '../../../schema/context.ts';
import { keyFaults } from '../../../schema/idempotency-key.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { MAX } from '../campaign.ts';
import { inOrder, type ListError, type ListMapping, MAX_LIST, type RecipientListRow } from './list-row.ts';
import { type MatchedContacts, matchContacts, previewMatches, type UploadedPerson } from './match-contacts.ts';
import { type MappingInput, mappingOf, peopleOf, type Table, tableOf } from './parse-file.ts';
import { insertListErrors, insertListRows } from './rows.sql.ts';
import { countRows, getLists, insertList, lockList } from './store.ts';

export interface CreateListInput extends WithKey {
  readonly name: string;
  readonly csv: string;
  readonly mapping?: MappingInput | null | undefined;
  /** Default: true. False: more parts follow, and the list is hidden until the last one. */
  readonly isComplete?: boolean | null | undefined;
}

export interface AddRowsInput extends WithKey {
  readonly id: number;
  readonly csv: string;
  /** Default: true. False keeps a list whose parts are missing hidden. */
  readonly isComplete?: boolean | null | undefined;
}

/**
 * Stores an uploaded CSV file as a list of recipients; numbers that no contact has become contacts. Rows with a fault are left out and
 * listed with the list.
 * @throws VALIDATION_ERROR on name, csv (no header, too many rows or columns) and mapping (no such column)
 */
export async function createList(context: Context, input: CreateListInput): Promise<RecipientListRow> {
  const errors = new FieldErrorList();
  const name = input.name.trim();
  if (name === '') errors.add('name', 'Is required.', 'REQUIRED');
  else if (isLonger(name, MAX.name)) errors.add('name', `May have at most ${MAX.name} characters.`, 'TOO_LONG');
  else if (!isStorable(name)) errors.add('name', UNSTORABLE);
  const table = tableOf(input.csv, errors);
  const mapping = mappingOf(input.mapping, table.header, errors);
  // Contacts are created before the key is claimed.
  errors.include(keyFaults(input.idempotencyKey));
  errors.throwIfAny();
  const found = await find(context, table, mapping, 0);
  const stored = { name, columns: table.header, mapping, is_listed: input.isComplete ?? true };
  return store(context, 'createRecipientList', input, trx => insertList(trx, tenantOf(context), stored), found);
}

/** Adds rows to a list: a CSV file with the same columns. @throws NOT_FOUND; VALIDATION_ERROR on csv, also if the list would be too long */
export async function addRows(context: Context, input: AddRowsInput): Promise<RecipientListRow> {
  const tenantId = tenantOf(context);
  const [list] = await getLists(context.db.read, tenantId, [input.id]);
  if (!list) throw notFound('RecipientList');
  const errors = new FieldErrorList();
  const table = tableOf(input.csv, errors);
  if (errors.isEmpty && table.header.join('\n') !== list.columns.join('\n'))
    errors.add('csv', `Must have the columns of the list: ${list.columns.join(', ')}.`);
  const before = list.row_count + list.error_count;
  if (before + table.rows.length > MAX_LIST.rows)
    errors.add(
      'csv',
      `A list may have at most ${MAX_LIST.rows} rows; this one has ${before}. Upload the others as another list.`,
      'TOO_MANY',
    );
  errors.include(keyFaults(input.idempotencyKey));
  errors.throwIfAny();
  const found = await find(context, table, list.mapping, before);
  const lock = async (trx: Db): Promise<RecipientListRow> => {
    const locked = await lockList(trx, tenantId, input.id);
    if (!locked) throw notFound('RecipientList');
    if (locked.row_count !== list.row_count || locked.error_count !== list.error_count)
      throw conflict('Rows were added to this list at the same time. Try again.');
    return locked;
  };
  return store(context, 'addRecipientListRows', input, lock, found);
}

/** @param before number of rows that the list has already */
async function find(context: Context, table: Table, mapping: ListMapping, before: number): Promise<MatchedContacts> {
  const read = peopleOf(table, mapping, before);
  const found = await matchContacts(context, read.people);
  return { people: found.people, errors: inOrder([...read.errors, ...found.errors]) };
}

/** The list of the numbers that one campaign names. */
export async function listOfPhones(
  context: Context,
  name: string,
  phones: readonly string[],
): Promise<RecipientListRow> {
  const given = phones.map((phone, index): UploadedPerson => ({ phone, rowNumber: index + 1, fields: {}, values: {} }));
  const throwIfAny = (faults: readonly ListError[]): void => {
    const errors = new FieldErrorList();
    for (const { row_number, message } of faults) errors.add(`audience.phones.${row_number - 1}`, message);
    errors.throwIfAny();
  };
  // One faulty number refuses all, before the others become contacts.
  throwIfAny((await previewMatches(context, given)).errors);
  const found = await matchContacts(context, given);
  throwIfAny(found.errors);
  const tenantId = tenantOf(context);
  return context.db.transaction(async trx => {
    const list = await insertList(trx, tenantId, { name, columns: [], mapping: { phone: '' }, is_listed: false });
    return add(trx, tenantId, list, found, false);
  });
}

async function add(
  trx: Db,
  tenantId: number,
  list: RecipientListRow,
  found: MatchedContacts,
  isListed: boolean,
): Promise<RecipientListRow> {
  const added = await insertListRows(trx, tenantId, list.id, found.people);
  if (found.errors.length > 0) await insertListErrors(trx, tenantId, list.id, found.errors.slice(0, MAX_LIST.errors));
  return countRows(trx, tenantId, list.id, added, found.errors.length + found.people.length - added, isListed);
}

const store = (
  context: Context,
  operation: string,
  input: WithKey & Pick<AddRowsInput, 'isComplete'>,
  begin: (trx: Db) => Promise<RecipientListRow>,
  found: MatchedContacts,
): Promise<RecipientListRow> => {
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation, key: input.idempotencyKey, input },
    {
      run: async trx => add(trx, tenantId, await begin(trx), found, input.isComplete ?? true),
      store: ({ id }) => ({ id }),
      rebuild: async stored => {
        const [list] = await getLists(context.db.write, tenantId, [(stored as { id: number }).id]);
        if (!list) throw notFound('RecipientList');
        return list;
      },
    },
  );
};
