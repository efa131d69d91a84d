/** The merge field of a column of the list: `@{column.code|none}`. */
export const columnField = (column: string): string => `column.${column}`;

/** The values of a row of the list by merge field. */
export const columnValues = (values: Readonly<Record<string, string>> | null): Record<string, string> =>
  Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [columnField(name), value]));
