import { CodedError } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import { addConversations, addSends, monthUsage, planLimits, removeConversations } from './usage.sql.ts';

/** The first day (UTC) of the month of an instant, for example 2026-12-01. */
export const monthOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 7)}-01`;

/** Locks the counters of a month, and creates them if they are missing. Lock order: after all other rows, before the rows that are counted. */
export const lockMonth = (trx: Db, tenantId: number, month: string): Promise<void> =>
  addSends(trx, tenantId, month, 0, 0);

/** Counts messages that were scheduled, and the conversations that they begin. @throws a check violation beyond the plan */
export const countSends = addSends;

/**
 * Counts what a transaction changed: conversations that people started this month, also beyond the plan, because inbound messages are
 * never rejected; less those that a merge found counted twice. Call it last: sends hold queued messages while they wait for the month's
 * counters, so that a transaction that takes these first and then settles such a message ends in a deadlock.
 */
export async function countConversations(trx: Db, tenantId: number, month: string, count: number): Promise<void> {
  if (count > 0) await addConversations(trx, tenantId, month, count);
  if (count < 0) await removeConversations(trx, tenantId, month, -count);
}

export type MonthlyFeature = 'messages' | 'conversations';

const CONSTRAINTS: Readonly<Record<string, MonthlyFeature>> = {
  messages_within_plan: 'messages',
  conversations_within_plan: 'conversations',
};

/** The monthly limit that a statement violated; undefined for any other error. */
export const monthlyLimitOf = (error: unknown): MonthlyFeature | undefined =>
  CONSTRAINTS[violationOf(error)?.constraint ?? ''];

/** How many messages the plan still allows in a month; null: any number. */
export async function messagesLeft(db: Db, tenantId: number, month: string): Promise<number | null> {
  const { max_messages: maximum } = await planLimits(db, tenantId);
  return maximum === null ? null : maximum - (await monthUsage(db, tenantId, month)).messages;
}

/** How many conversations the plan still allows in a month; null: any number. */
export async function conversationsLeft(db: Db, tenantId: number, month: string): Promise<number | null> {
  const { max_conversations: maximum } = await planLimits(db, tenantId);
  return maximum === null ? null : maximum - (await monthUsage(db, tenantId, month)).conversations;
}

/** The error for a message beyond the plan's month, with the current counts. */
export async function monthlyRefusal(
  db: Db,
  tenantId: number,
  month: string,
  feature: MonthlyFeature,
): Promise<CodedError> {
  const [used, limits] = [await monthUsage(db, tenantId, month), await planLimits(db, tenantId)];
  const maximum = feature === 'messages' ? limits.max_messages : limits.max_conversations;
  return new CodedError('FEATURE_LIMIT_EXCEEDED', `The plan allows ${maximum ?? 'no'} ${feature} a month.`, {
    details: { feature, current: used[feature], maximum },
  });
}
