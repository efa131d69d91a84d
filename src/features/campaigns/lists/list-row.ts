/** Contact fields that a column may fill, for contacts that the upload creates. */
export const MAPPED = ['firstName', 'lastName', 'company', 'email', 'city', 'timeZone'] as const;

/** Which columns have the number and the fields of new contacts, by their names in the first line. */
export type ListMapping = { readonly phone: string } & { readonly [Field in (typeof MAPPED)[number]]?: string };

/** A row of `campaign_lists`. */
export interface RecipientListRow {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly string[];
  readonly mapping: ListMapping;
  /** False: parts of it are missing, or it was made for the numbers of one campaign, and has no columns. */
  readonly is_listed: boolean;
  readonly row_count: number;
  readonly error_count: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export const LIST_COLUMNS = [
  'id',
  'name',
  'columns',
  'mapping',
  'is_listed',
  'row_count',
  'error_count',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof RecipientListRow)[];

/** Whether no part of an upload is missing. */
export const isComplete = ({
  is_listed: isListed,
  columns,
}: Pick<RecipientListRow, 'is_listed' | 'columns'>): boolean => isListed || columns.length === 0;

export interface ListError {
  readonly row_number: number;
  readonly message: string;
}

/** Errors by row: what is kept of too many are those of the first rows. */
export const inOrder = (errors: readonly ListError[]): readonly ListError[] =>
  errors.toSorted((one, other) => one.row_number - other.row_number);

/** A person of a list, found or created. */
export interface ListedContact {
  readonly contactId: number;
  readonly rowNumber: number;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Rows of one upload, rows of a list with those that were left out, columns, errors that are kept, and characters of a value and of all
 * values of a row.
 */
export const MAX_LIST = {
  upload: 10_000,
  rows: 1_000_000,
  columns: 50,
  errors: 1_000,
  value: 1_024,
  row: 8_192,
} as const;
