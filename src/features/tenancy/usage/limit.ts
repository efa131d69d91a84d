import { CodedError } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { violationOf } from '../../../database/violations.ts';
import { monthUsage, planLimits } from './store.ts';

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
    feature,
    current: used[feature],
    maximum,
  });
}
