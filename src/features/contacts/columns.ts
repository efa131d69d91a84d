import { type RawBuilder, sql } from 'kysely';
import type { Selection } from '../../schema/selection.ts';
import { CONTACT_COLUMNS, type ContactFields, FIELD_COLUMNS, FIELDS, type PublicContact } from './contact.ts';

/** The columns of contacts with the alias `c`, for kysely's builder and for SQL. */
export const COLUMNS_OF_C = CONTACT_COLUMNS.map(column => `c.${column}` as const);
export const ALL_COLUMNS = COLUMNS_OF_C.join(', ');

/**
 * The present id of the contact `c` at the network, of a kind; without ids of an enterprise; null: none. Identities are read by contact
 * behind offset 0: without statistics, the index of the kind is read as a whole for each contact.
 */
export const presentIdentity = (tenantId: number, kind: 'wa_id' | 'user_id'): RawBuilder<string | null> =>
  sql`(select i.value from (
      select i.id, i.kind, i.value, i.started_at, i.ended_at from contact_identities i
      where i.tenant_id = ${tenantId} and i.contact_id = c.id offset 0) i
    where i.kind = ${sql.lit(kind)} and i.ended_at is null and i.value not like '%.ENT.%'
    order by i.started_at desc, i.id desc limit 1)`;

/** The columns that each GraphQL field of a contact needs; other fields need none, because their loaders read. */
const COLUMNS_OF: Readonly<Record<string, readonly (keyof PublicContact)[]>> = {
  ...Object.fromEntries(FIELD_COLUMNS.map(column => [FIELDS[column].name, [column]])),
  id: ['id'],
  databaseId: ['id'],
  displayName: ['id', 'firstname', 'lastname', 'phone'],
  fullName: ['firstname', 'lastname'],
  country: ['country_id'],
  isOptedOut: ['opted_out_at'],
  optedOutAt: ['opted_out_at'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
  source: ['source_id'],
  status: ['status_id'],
  assignee: ['assigned_id'],
  groups: ['id'],
  identities: ['id'],
  formerIds: ['id'],
  consents: ['id'],
  consentEntries: ['id'],
  serviceWindow: ['id'],
};

/** The columns of a contact that a selection needs; the id is always among them. */
export const contactColumns = (selection: Selection): readonly (keyof PublicContact)[] => [
  ...new Set<keyof PublicContact>(['id', ...[...selection.keys()].flatMap(field => COLUMNS_OF[field] ?? [])]),
];

const LABEL_COLUMNS_OF: Readonly<Record<string, string>> = {
  id: 'id',
  databaseId: 'id',
  name: 'name',
  displayName: 'name',
  email: 'email',
  role: 'role',
  color: 'color',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** The columns of a label, a tag or a staff member. The id is always among them, because global ids need it. */
export const nestedColumns = (selection: Selection): string[] => [
  ...new Set(['id', ...[...selection.keys()].flatMap(field => LABEL_COLUMNS_OF[field] ?? [])]),
];

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

/** Resolves the id of a merged contact to its survivor, in a list whose tenant is `$1`. */
export const currentContact = (id: string): string =>
  `coalesce((select cm.contact_id from contact_merges cm where cm.tenant_id = $1 and cm.former_id = ${id} and cm.undone_at is null), ${id})`;

/** The same for kysely. A subquery of one value is read by key for each id, where a join may read all merges of the tenant. */
export const currentContactId = (tenantId: number, id: 'r.id'): RawBuilder<number> =>
  sql<number>`coalesce((
    select cm.contact_id from contact_merges cm
    where cm.tenant_id = ${tenantId} and cm.former_id = ${sql.ref(id)} and cm.undone_at is null), ${sql.ref(id)})`;
