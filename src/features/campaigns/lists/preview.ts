import { FieldErrorList } from '../../../core/errors.ts';
import type { Context } from '../../../schema/context.ts';
import { inOrder, type ListError, MAX_LIST } from './list-row.ts';
import { previewMatches } from './match-contacts.ts';
import { type MappingInput, mappingOf, peopleOf, tableOf } from './parse-file.ts';

/** Result of a dry run of an upload. */
export interface ListPreview {
  readonly columns: readonly string[];
  /** Rows that would be people of the list. */
  readonly rows: number;
  /** Rows of people who are in an earlier row, too. */
  readonly duplicates: number;
  readonly newContacts: number;
  readonly errorCount: number;
  /** The first of them. */
  readonly errors: readonly ListError[];
  readonly samples: readonly ListSample[];
}

export interface ListSample {
  readonly rowNumber: number;
  readonly phone: string;
  /** Null: the upload would create it. */
  readonly contactId: number | null;
  /** Fields of the new contact; empty if the contact exists, because it is not changed. */
  readonly fields: Readonly<Record<string, string>>;
  /** In the order of the columns. */
  readonly values: readonly string[];
}

const SAMPLES = 3;

/**
 * Maps and checks a file as `createList` would, and writes nothing.
 * @throws VALIDATION_ERROR on csv and mapping
 */
export async function previewList(
  context: Context,
  input: { readonly csv: string; readonly mapping?: MappingInput | null | undefined },
): Promise<ListPreview> {
  const faults = new FieldErrorList();
  const table = tableOf(input.csv, faults);
  const mapping = mappingOf(input.mapping, table.header, faults);
  faults.throwIfAny();
  const read = peopleOf(table, mapping, 0);
  const { people, errors: unusable } = await previewMatches(context, read.people);
  const errors = inOrder([...read.errors, ...unusable]);
  return {
    columns: table.header,
    rows: people.length,
    duplicates: people.filter(({ isDuplicate }) => isDuplicate).length,
    newContacts: people.filter(({ contactId, isDuplicate }) => contactId === null && !isDuplicate).length,
    errorCount: errors.length,
    errors: errors.slice(0, MAX_LIST.errors),
    samples: people.slice(0, SAMPLES).map(({ person, phone, contactId }) => ({
      rowNumber: person.rowNumber,
      phone,
      contactId,
      fields: contactId === null ? (person.fields as Record<string, string>) : {},
      values: table.header.map(name => person.values[name] ?? ''),
    })),
  };
}
