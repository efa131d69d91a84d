import type { Db } from '../../database/database.ts';
import type { ListStatement } from '../../database/list.ts';
import { type Row, shapeOf, type Values } from '../../database/row-shape.ts';
import { raw } from '../../database/statements.ts';
import type { Selection } from '../../schema/selection.ts';
import { contactColumns, nestedColumns } from '../contacts/columns.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { messageColumnsOf } from '../messages/list.ts';
import { type MessageRow, qualifiedColumn } from '../messages/message.ts';
import { TAG_IDS } from './columns.ts';
import { CONVERSATION_COLUMNS, type PublicConversation } from './conversation.ts';
import type { TagRow } from './tags/tag.ts';

/** A conversation of a page, with the rows that are selected below it and their selected columns. */
export interface ConversationRow extends PublicConversation {
  readonly contact?: ContactRow | null;
  readonly assignee?: ContactRow['assignee'];
  readonly last_message?: MessageRow | null;
  readonly tags?: readonly TagRow[];
}

type Column = (typeof CONVERSATION_COLUMNS)[number];

/** The columns that each GraphQL field of a conversation needs. */
const COLUMNS_OF: Readonly<Record<string, readonly Column[]>> = {
  id: ['id'],
  databaseId: ['id'],
  contact: ['contact_id'],
  contactId: ['contact_id'],
  channel: ['channel_id'],
  status: ['status'],
  snoozedUntil: ['snoozed_until'],
  assignee: ['assignee_id'],
  unreadCount: ['unread_count'],
  waitingSince: ['waiting_since'],
  serviceWindow: ['window_expires_at'],
  tags: ['id'],
  lastMessage: ['last_message_id'],
  lastActivityAt: ['last_activity_at'],
  messages: ['id'],
  notes: ['id'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
};

/** The columns to read for a selection; all of them if it has a field that is not listed above. */
function columnsOf(selection: Selection): readonly Column[] {
  const needed = new Set<Column>(['id']);
  for (const field of selection.keys()) {
    const columns = Object.hasOwn(COLUMNS_OF, field) ? COLUMNS_OF[field] : undefined;
    if (!columns) return CONVERSATION_COLUMNS;
    for (const column of columns) needed.add(column);
  }
  return CONVERSATION_COLUMNS.filter(column => needed.has(column));
}

/** A subquery for related rows, of which each is read once. */
interface RelatedQuery {
  readonly name: 'contact' | 'assignee' | 'last_message' | 'tags';
  /** The column with the key of the related row, or of a list of them. */
  readonly by: 'contact_id' | 'assignee_id' | 'last_message_id' | 'tag_ids';
  readonly columns: readonly string[];
  readonly sql: string;
}

const array = (columns: readonly string[]): string => `json_build_array(${columns.join(', ')})`;

const RELATED: Readonly<Record<string, (selection: Selection) => RelatedQuery>> = {
  contact: selection => ofTable('contact', 'contact_id', 'contacts', contactColumns(selection)),
  assignee: selection => ofTable('assignee', 'assignee_id', 'staff', nestedColumns(selection)),
  tags: selection => ofTable('tags', 'tag_ids', 'tags', nestedColumns(selection)),
  lastMessage(selection) {
    const columns = messageColumnsOf(selection);
    // One plan, by the primary keys, whatever the statistics of the page are; of the partitions only those of the ids are read.
    const sql = `select json_agg(${array(columns.map(qualifiedColumn))}) from p
      cross join lateral (select k.* from messages k where k.tenant_id = $1 and k.id = p.last_message_id offset 0) m
      cross join lateral (select k.* from message_states k where k.tenant_id = $1 and k.message_id = p.last_message_id offset 0) s`;
    return { name: 'last_message', by: 'last_message_id', columns, sql };
  },
};

function ofTable(
  name: RelatedQuery['name'],
  by: RelatedQuery['by'],
  table: 'contacts' | 'staff' | 'tags',
  columns: readonly string[],
): RelatedQuery {
  const keys = name === 'tags' ? `select (unnest(tag_ids))::bigint from p` : `select ${by} from p`;
  const sql = `select json_agg(${array(columns.map(column => `r.${column}`))}) from ${table} r where r.tenant_id = $1 and r.id = any(array(${keys}))`;
  return { name, by, columns, sql };
}

/** The one row that a page's statement returns: a list of values per row; null for no rows. */
type PageJson = { readonly [name in RelatedQuery['name'] | 'page']?: readonly Values[] | null };

/** One page of conversations with the selected fields, in one statement, as that of contacts: `contacts/page.sql.ts` has the reasons. */
class ConversationPage {
  readonly #columns: readonly string[];
  readonly #selected: readonly string[];
  readonly #hasTags: boolean;
  readonly #related: readonly RelatedQuery[];

  constructor(selection: Selection) {
    const columns = columnsOf(selection);
    this.#hasTags = selection.has('tags') || columns === CONVERSATION_COLUMNS;
    this.#columns = [...columns, ...(this.#hasTags ? ['tag_ids'] : [])];
    this.#selected = [...columns.map(column => `v.${column}`), ...(this.#hasTags ? ['v.tenant_id'] : [])];
    this.#related = [...selection].flatMap(([field, below]) =>
      Object.hasOwn(RELATED, field) ? [(RELATED[field] as (typeof RELATED)[string])(below)] : [],
    );
  }

  /** @param keys expressions of the cursor's values, as in `ListStatement`; empty if no cursor is selected */
  sql(tail: string, keys: readonly string[]): string {
    const columns = [...this.#columns, ...keys.map((_, index) => `k${index}`)];
    const related = this.#related.map(({ name, sql }) => `, (${sql}) as ${name}`).join('');
    const rows = `materialized (select ${[...this.#selected, ...keys].join(', ')} ${tail})`;
    // Tags are read above the limit: below it, all rows that are sorted for the page might have theirs read.
    const p = this.#hasTags ? `v as ${rows}, p as materialized (select v.*, ${TAG_IDS} from v)` : `p as ${rows}`;
    return `with ${p}
      select (select json_agg(${array(columns.map(column => `p.${column}`))}) from p) as page${related}`;
  }

  read(json: PageJson, keys: readonly string[]): ConversationRow[] {
    const columns = [...this.#columns, ...keys.map((_, index) => `k${index}`)];
    const rows = (json.page ?? []).map(shapeOf([...columns, ...this.#related.map(({ name }) => name)]));
    for (const related of this.#related) addRelated(rows, related, json[related.name] ?? []);
    // Columns that were not selected are missing, and no resolver reads them.
    return rows as unknown as ConversationRow[];
  }
}

function addRelated(rows: readonly Row[], { name, by, columns }: RelatedQuery, values: readonly Values[]): void {
  const shape = shapeOf(columns);
  const at = columns.indexOf('id');
  const byId = new Map(values.map(row => [row[at], shape(row)]));
  for (const row of rows)
    row[name] =
      name === 'tags'
        ? (row[by] as readonly number[]).flatMap((id): Row[] => [byId.get(id)].filter(tag => tag !== undefined))
        : (byId.get(row[by]) ?? null);
}

/** Caches the SQL of a page by selection, which is reused with its document. */
const pages = new WeakMap<Selection, ConversationPage>();

function pageOf(selection: Selection): ConversationPage {
  const page = pages.get(selection) ?? new ConversationPage(selection);
  pages.set(selection, page);
  return page;
}

export async function listConversations(
  db: Db,
  statement: ListStatement,
  selection: Selection,
  withCursors: boolean,
): Promise<ConversationRow[]> {
  const page = pageOf(selection);
  const keys = withCursors ? statement.keys : [];
  const { rows } = await db.executeQuery(raw<PageJson>(page.sql(statement.tail, keys), statement.values));
  return page.read(rows[0] ?? {}, keys);
}
