import type { FieldErrorList } from '../../../core/errors.ts';
import { type CsvRow, parseCsv, surplusFault } from '../../../platform/csv.ts';
import { columnsOf } from '../../../platform/csv-format.ts';
import { isLonger, isStorable, lengthOf, UNSTORABLE } from '../../../platform/text.ts';
import { type ListError, type ListMapping, MAPPED, MAX_LIST } from './list-row.ts';
import type { UploadedPerson } from './match-contacts.ts';

/** A mapping as callers give it. */
export type MappingInput = { readonly phone: string } & {
  readonly [Field in (typeof MAPPED)[number]]?: string | null | undefined;
};

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly CsvRow[];
}

/** Reads a CSV file. @param errors receives the faults of `csv`: no header, too many rows or columns, names that cannot be used */
export function tableOf(csv: string, errors: FieldErrorList): Table {
  const table = isStorable(csv) ? parseCsv(csv) : undefined;
  const [first, ...rows] = table ?? [];
  const header = columnsOf(first?.cells ?? []);
  if (!isStorable(csv)) errors.add('csv', UNSTORABLE);
  else if (!table) errors.add('csv', 'Has a quoted field that does not end.');
  else if (rows.length === 0) errors.add('csv', 'Needs a line with the names of the columns, and rows.', 'REQUIRED');
  if (rows.length > MAX_LIST.upload)
    errors.add(
      'csv',
      `May have at most ${MAX_LIST.upload} rows, not ${rows.length}: add the others with addRecipientListRows.`,
      'TOO_MANY',
    );
  if (header.length > MAX_LIST.columns)
    errors.add('csv', `May have at most ${MAX_LIST.columns} columns, not ${header.length}.`, 'TOO_MANY');
  const unusable = header.filter((name, index) => !/^[^{}|]{1,57}$/.test(name) || header.indexOf(name) !== index);
  if (table && unusable.length > 0)
    errors.add('csv', `Columns need different names of 1 to 57 characters without { } |: "${unusable[0]}".`);
  return { header, rows };
}

/** @param errors receives the fields whose columns do not exist */
export function mappingOf(
  given: MappingInput | null | undefined,
  header: readonly string[],
  errors: FieldErrorList,
): ListMapping {
  const mapping: ListMapping = { phone: given?.phone ?? 'phone' };
  const entries = Object.entries({ ...given, ...mapping }).filter(([, column]) => column != null);
  for (const [field, column] of entries)
    if (header.length > 0 && !header.includes(String(column)))
      errors.add(`mapping.${field}`, `There is no column "${column}". Columns: ${header.join(', ')}.`);
  return Object.fromEntries(entries) as unknown as ListMapping;
}

/**
 * The people of a file, and the rows that are too long or have a value beyond the columns: one that is cut, or in the wrong column, would
 * be sent as if it were right.
 * @param before number of rows that the list has already
 */
export function peopleOf(
  { header, rows }: Table,
  mapping: ListMapping,
  before: number,
): { readonly people: readonly UploadedPerson[]; readonly errors: readonly ListError[] } {
  const errors: ListError[] = [];
  const people: UploadedPerson[] = [];
  for (const [place, { cells }] of rows.entries()) {
    const rowNumber = before + place + 1;
    const entries = header.map((name, index) => [name, (cells[index] ?? '').trim()] as const);
    const message = surplusFault(cells, header.length) ?? faultOf(entries);
    if (message !== undefined) {
      errors.push({ row_number: rowNumber, message });
      continue;
    }
    const values = Object.fromEntries(entries);
    const fields = MAPPED.flatMap(field => {
      const column = mapping[field];
      return column === undefined ? [] : [[field, values[column] ?? '']];
    });
    people.push({
      rowNumber,
      phone: values[mapping.phone] ?? '',
      fields: Object.fromEntries(fields),
      values,
    });
  }
  return { people, errors };
}

function faultOf(entries: readonly (readonly [name: string, value: string])[]): string | undefined {
  const long = entries.filter(([, value]) => isLonger(value, MAX_LIST.value));
  if (long.length > 0)
    return long
      .map(([name, value]) => `${name}: May have at most ${MAX_LIST.value} characters, not ${lengthOf(value)}.`)
      .join(' ');
  const length = entries.reduce((sum, [, value]) => sum + lengthOf(value), 0);
  return length > MAX_LIST.row
    ? `The values of a row may have at most ${MAX_LIST.row} characters together, not ${length}.`
    : undefined;
}
