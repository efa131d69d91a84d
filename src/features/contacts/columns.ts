import { type RawBuilder, sql } from 'kysely';
import { CONTACT_COLUMNS, type ContactFields, FIELD_COLUMNS, FIELDS, type PublicContact } from './contact.ts';

/** The columns of contacts with the alias `c`, for kysely's builder and for SQL. */
export const COLUMNS_OF_C = CONTACT_COLUMNS.map(column => `c.${column}` as const);
export const ALL_COLUMNS = COLUMNS_OF_C.join(', ');

/** The values of a new contact; columns that are left out get their default. */
export type NewContactRow = Omit<ContactFields, 'phone' | 'phone_key'> &
  Partial<Pick<PublicContact, 'phone' | 'source_id' | 'status_id' | 'assigned_id' | 'opted_out_at'>> & {
    readonly phone_key?: string | null;
  };

const NEW_TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FIELD_COLUMNS.map(column => [column, FIELDS[column].type])),
  phone_key: 'text',
  opted_out_at: 'timestamptz',
} satisfies Partial<Record<keyof NewContactRow, string>>;

const NEW_DEFAULTS: Readonly<Record<string, string>> = {
  firstname: `coalesce(r.firstname, '')`,
  lastname: `coalesce(r.lastname, '')`,
  type: `coalesce(r.type, 'lead')`,
} satisfies Partial<Record<keyof NewContactRow, string>>;

const LOOKED_UP = ['source_id', 'status_id'];
const COPIED = Object.keys(NEW_TYPES).filter(column => !LOOKED_UP.includes(column));
const copied = sql.raw(COPIED.map(column => NEW_DEFAULTS[column] ?? `r.${column}`).join(', '));

/**
 * The parts of every INSERT of contacts:
 * `insert into contacts (tenant_id, <columns>) select …, <values> from jsonb_to_recordset(…) as r (<definitions>)`.
 * Sources and statuses may come from cached defaults; deleted ones are ignored.
 */
export const NEW_CONTACT = {
  columns: sql.raw([...COPIED, ...LOOKED_UP].join(', ')),
  /** Columns and types of the JSON records. */
  definitions: sql.raw([...COPIED, ...LOOKED_UP].map(column => `${column} ${NEW_TYPES[column]}`).join(', ')),
  values: (tenantId: number): RawBuilder<unknown> => sql`${copied},
    (select id from sources s where s.tenant_id = ${tenantId} and s.id = r.source_id),
    (select id from statuses s where s.tenant_id = ${tenantId} and s.id = r.status_id)`,
} as const;

const UNCOUNTED = ['firstname', 'lastname', 'type', 'source_id', 'status_id'];

/** SQL expression for the number of filled fields of a contact; the contact with the greater weight survives a merge. */
export const WEIGHT = `num_nonnulls(${FIELD_COLUMNS.filter(column => !UNCOUNTED.includes(column))
  .map(column => `c.${column}`)
  .join(', ')}) + (c.firstname <> '')::int + (c.lastname <> '')::int`;
