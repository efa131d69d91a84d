import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { ConversationFilter, ConversationRowFragment, ConversationStatus } from '../documents.generated.ts';

export const STATUSES = ['OPEN', 'PENDING', 'SNOOZED', 'CLOSED'] as const satisfies readonly ConversationStatus[];

/** Filters of the conversation list, as kept in the URL. */
export interface InboxFilters {
  readonly status: ConversationStatus | undefined;
  /** A staff member's id, `none`, or undefined for everybody's. */
  readonly assignee: string | undefined;
  readonly channel: string | undefined;
  readonly tag: string | undefined;
  readonly isUnread: boolean;
  readonly search: string;
}

export type FilterChange = Partial<
  Record<'status' | 'assignee' | 'channel' | 'tag' | 'unread' | 'q', string | undefined>
>;

const ALL = 'all';

/** The filters of the address, and how to change them there. Without a status the open conversations are shown. */
export function useInboxFilters(): readonly [InboxFilters, (change: FilterChange) => void] {
  const [params, setParams] = useSearchParams();
  const filters = useMemo<InboxFilters>(() => {
    const status = params.get('status')?.toUpperCase();
    return {
      status: status === undefined ? 'OPEN' : STATUSES.find(each => each === status),
      assignee: params.get('assignee') ?? undefined,
      channel: params.get('channel') ?? undefined,
      tag: params.get('tag') ?? undefined,
      isUnread: params.get('unread') === '1',
      search: params.get('q') ?? '',
    };
  }, [params]);
  const change = (changes: FilterChange): void =>
    setParams(
      before => {
        const next = new URLSearchParams(before);
        for (const [key, value] of Object.entries(changes)) {
          if (value === undefined || value === '') next.delete(key);
          else next.set(key, value);
        }
        return next;
      },
      { replace: true },
    );
  return [filters, change];
}

/** The value of `status` in the address. */
export const statusParam = (status: ConversationStatus | undefined): string | undefined =>
  status === 'OPEN' ? undefined : (status?.toLowerCase() ?? ALL);

/** The filter of the API. A search looks everywhere, also in closed conversations. */
export function filterOf({ status, assignee, channel, tag, isUnread, search }: InboxFilters): ConversationFilter {
  return {
    ...(status && search === '' && { status: { eq: status } }),
    ...(assignee !== undefined && { assigneeId: assignee === 'none' ? { isNull: true } : { eq: assignee } }),
    ...(channel !== undefined && { channelId: { eq: channel } }),
    ...(tag !== undefined && { tagId: { eq: tag } }),
    ...(isUnread && { unreadCount: { gt: 0 } }),
  };
}

/** The address may name an object by its databaseId, which rows do not have: then the gateway's answer counts. */
const isOther = (wanted: string | undefined, ids: readonly (string | undefined)[]): boolean =>
  wanted !== undefined && !/^\d+$/.test(wanted) && !ids.includes(wanted);

/** Whether a row, which may have changed since it was listed, still meets the filters, as far as it tells. */
export function isShownBy(
  { status, assignee, channel, tag, isUnread, search }: InboxFilters,
  row: ConversationRowFragment,
): boolean {
  if (status !== undefined && search === '' && row.status !== status) return false;
  if (isUnread && row.unreadCount === 0) return false;
  if (assignee === 'none' ? row.assignee !== null : isOther(assignee, [row.assignee?.id])) return false;
  const tagIds = row.tags.map(({ id }) => id);
  return !isOther(channel, [row.channel?.id]) && !isOther(tag, tagIds);
}
