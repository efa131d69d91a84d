import type { Selection } from '../../graphql/selection.ts';
import { CONTACT_COLUMNS } from './contact.ts';

/** Which columns each GraphQL field of a contact needs. A field that stands nowhere here needs none (its loader reads). */
const COLUMNS_OF: Readonly<Record<string, readonly string[]>> = {
  id: ['id'],
  databaseId: ['id'],
  firstName: ['firstname'],
  lastName: ['lastname'],
  fullName: ['firstname', 'lastname'],
  company: ['company'],
  type: ['type'],
  email: ['email'],
  phone: ['phone'],
  description: ['description'],
  address: ['address'],
  city: ['city'],
  state: ['state'],
  zip: ['zip'],
  country: ['country_id'],
  isOptedOut: ['opted_out_at'],
  optedOutAt: ['opted_out_at'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
  sourceId: ['source_id'],
  statusId: ['status_id'],
  assigneeId: ['assigned_id'],
  source: ['source_id'],
  status: ['status_id'],
  assignee: ['assigned_id'],
  groups: ['id'],
  serviceWindow: ['id'],
};

const LABEL_COLUMNS_OF: Readonly<Record<string, string>> = {
  id: 'id',
  databaseId: 'id',
  name: 'name',
  email: 'email',
  color: 'color',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** `json_build_object` of what is selected of a nested row. The id is always there: loaders and global ids need it. */
function jsonOf(alias: string, selection: Selection): string {
  const columns = new Set(['id', ...[...selection.keys()].flatMap(field => LABEL_COLUMNS_OF[field] ?? [])]);
  return `json_build_object(${[...columns].map(column => `'${column}', ${alias}.${column}`).join(', ')})`;
}

/** A row that is referred to by one column of the contact. */
const oneOf = (table: string, column: string, selection: Selection, name: string): string =>
  `(select ${jsonOf('r', selection)} from ${table} r where r.tenant_id = c.tenant_id and r.id = c.${column}) as ${name}`;

/** A contact's groups by name. */
export const groupsSql = (selection: Selection): string =>
  `(select coalesce(json_agg(${jsonOf('g', selection)} order by g.name), '[]') from contact_groups cg
    join groups g on g.tenant_id = cg.tenant_id and g.id = cg.group_id
    where cg.tenant_id = c.tenant_id and cg.contact_id = c.id) as groups`;

/** The end of the service window on the tenant's default channel: the one that sends when none is named. */
export const WINDOW_SQL = `(select v.window_expires_at from conversations v
    join channels ch on ch.tenant_id = v.tenant_id and ch.id = v.channel_id and ch.is_default
    where v.tenant_id = c.tenant_id and v.contact_id = c.id) as window_expires_at`;

export const ALL_COLUMNS = CONTACT_COLUMNS.map(column => `c.${column}`).join(', ');

/** The select list for a selection: the hot list reads what is shown, in one statement, and nothing else. */
export function contactColumns(selection: Selection): string {
  const columns = new Set(['id']);
  const nested: string[] = [];
  for (const [field, below] of selection) {
    for (const column of COLUMNS_OF[field] ?? []) columns.add(column);
    if (field === 'source') nested.push(oneOf('sources', 'source_id', below, 'source'));
    else if (field === 'status') nested.push(oneOf('statuses', 'status_id', below, 'status'));
    else if (field === 'assignee') nested.push(oneOf('staff', 'assigned_id', below, 'assignee'));
    else if (field === 'groups') nested.push(groupsSql(below));
    else if (field === 'serviceWindow') nested.push(WINDOW_SQL);
  }
  return [...[...columns].map(column => `c.${column}`), ...nested].join(', ');
}
