/** The first screen of a front end: the open conversations with all that a row of the inbox shows, and the counts above them. */
export const PAGE_SIZE = 50;

export const PARLEY_INBOX = `query Inbox($first: Int!, $f: ConversationFilter) {
  conversationCounts { open unassigned unreadConversations }
  conversations(first: $first, filter: $f, orderBy: [{ field: LAST_ACTIVITY_AT, direction: DESC }]) {
    pageInfo { endCursor }
    edges { node {
      databaseId status unreadCount waitingSince
      assignee { name }
      tags { name color }
      contact { firstName lastName }
      lastMessage { direction status createdAt previewText }
    } }
  }
}`;

/** The same of PostGraphile: its names follow from the tables. The order is that of the index that Parley reads. */
export const POSTGRAPHILE_INBOX = `query Inbox($tenant: BigInt!, $first: Int!) {
  open: allConversations(condition: { tenantId: $tenant, status: "open" }) { totalCount }
  unassigned: allConversations(condition: { tenantId: $tenant, status: "open", assigneeId: null }) { totalCount }
  unread: allConversations(condition: { tenantId: $tenant, isUnread: true }) { totalCount }
  allConversations(first: $first, condition: { tenantId: $tenant, status: "open" }, orderBy: [ACTIVITY_SLOT_DESC, LAST_ACTIVITY_AT_DESC, ROW_ID_DESC]) {
    pageInfo { endCursor }
    edges { node {
      rowId status unreadCount waitingSince
      staffByTenantIdAndAssigneeId { name }
      conversationTagsByTenantIdAndConversationId { nodes { tagByTenantIdAndTagId { name color } } }
      contactByTenantIdAndContactId { firstname lastname }
      lastMessage { direction createdAt body state { status } }
    } }
  }
}`;

/** What a screen shows, in one form for all servers. */
export interface Inbox {
  readonly counts: readonly number[];
  readonly rows: readonly (readonly unknown[])[];
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of several servers, compared as a whole
type Answer = any;

const instant = (text: string | null): number | null => (text === null ? null : Date.parse(text));
const byName = (tags: readonly { readonly name: string; readonly color: string }[]): string[] =>
  tags.map(({ name, color }) => `${name} ${color}`).sort();

export const inboxOfParley = ({ data }: Answer): Inbox => ({
  counts: [
    data.conversationCounts.open,
    data.conversationCounts.unassigned,
    data.conversationCounts.unreadConversations,
  ],
  rows: data.conversations.edges.map(({ node }: Answer) => [
    node.databaseId,
    node.status.toLowerCase(),
    node.unreadCount,
    instant(node.waitingSince),
    node.assignee?.name ?? null,
    byName(node.tags),
    node.contact.firstName,
    node.contact.lastName,
    node.lastMessage.direction.toLowerCase(),
    node.lastMessage.status.toLowerCase(),
    instant(node.lastMessage.createdAt),
    node.lastMessage.previewText,
  ]),
});

export const inboxOfPostgraphile = ({ data }: Answer): Inbox => ({
  counts: [data.open.totalCount, data.unassigned.totalCount, data.unread.totalCount],
  rows: data.allConversations.edges.map(({ node }: Answer) => [
    node.rowId,
    node.status,
    node.unreadCount,
    instant(node.waitingSince),
    node.staffByTenantIdAndAssigneeId?.name ?? null,
    byName(
      node.conversationTagsByTenantIdAndConversationId.nodes.map(
        ({ tagByTenantIdAndTagId: tag }: Answer): { name: string; color: string } => tag,
      ),
    ),
    node.contactByTenantIdAndContactId.firstname,
    node.contactByTenantIdAndContactId.lastname,
    node.lastMessage.direction,
    node.lastMessage.state.status,
    instant(node.lastMessage.createdAt),
    node.lastMessage.body,
  ]),
});
