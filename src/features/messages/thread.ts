import { invalid } from '../../core/errors.ts';
import { requireUuid } from '../../core/global-ids.ts';
import { isUuid } from '../../core/ids.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import type { ConnectionPage } from '../../schema/lists.ts';
import type { MessageRow } from './message.ts';
import { countThread, readThread, type ThreadRange, type ThreadRef } from './thread.sql.ts';

export interface ThreadArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  /** Id of a message. */
  readonly around?: string | null | undefined;
}

const cursorOf = (id: string): string => Buffer.from(id).toString('base64url');

function idOf(cursor: string | null | undefined, field: string): string | null {
  if (cursor == null) return null;
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!isUuid(id)) throw invalid({ [field]: ['This cursor does not belong to a thread.'] });
  return id.toLowerCase();
}

/** @throws VALIDATION_ERROR naming the argument */
function rangeOf(tenantId: number, { first, after, last, before, around }: ThreadArgs): ThreadRange {
  for (const [field, size] of Object.entries({ first, last }))
    if (size != null && (size < 1 || size > MAX_PAGE_SIZE))
      throw invalid({ [field]: [`Must be from 1 to ${MAX_PAGE_SIZE}.`] }, 'OUT_OF_RANGE');
  if (around != null) {
    if (after != null || before != null || (first != null && last != null))
      throw invalid({ around: ['Can only be combined with first or last.'] }, 'SURPLUS');
    const size = first ?? last ?? DEFAULT_PAGE_SIZE;
    const id = requireUuid(tenantId, 'Message', around);
    const back = Math.floor(size / 2);
    return { after: id, ahead: size - back, before: id, back, isInclusive: true };
  }
  if (last == null) {
    if (before != null) throw invalid({ before: ['Can only be combined with last.'] }, 'SURPLUS');
    const ahead = first ?? DEFAULT_PAGE_SIZE;
    return { after: idOf(after, 'after'), ahead, before: null, back: 0, isInclusive: false };
  }
  if (first != null || after != null)
    throw invalid({ last: ['Use first and after, or last and before, not both.'] }, 'SURPLUS');
  return { after: null, ahead: 0, before: idOf(before, 'before'), back: last, isInclusive: false };
}

/** A part of a conversation or group chat, oldest first, without reactions. Both ends say exactly whether there is more. */
export async function threadPage(
  context: Context,
  thread: ThreadRef,
  args: ThreadArgs,
): Promise<ConnectionPage<MessageRow>> {
  const tenantId = tenantOf(context);
  const rows = await readThread(context.db.read, tenantId, thread, rangeOf(tenantId, args));
  return {
    rows,
    hasNextPage: rows.at(-1)?.has_next ?? false,
    hasPreviousPage: rows[0]?.has_previous ?? false,
    total: () => countThread(context.db.read, tenantId, thread),
    cursor: ({ id }) => cursorOf(id),
  };
}
