import { CodedError } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { violationOf } from '../../platform/violations.ts';
import { monthUsage, planLimits } from './store.ts';

export type MonthlyFeature = 'messages' | 'conversations';

const CONSTRAINTS: Readonly<Record<string, MonthlyFeature>> = {
  messages_within_plan: 'messages',
  conversations_within_plan: 'conversations',
};

/** Which monthly limit a statement met; undefined for any other error. */
export const monthlyLimitOf = (error: unknown): MonthlyFeature | undefined =>
  CONSTRAINTS[violationOf(error)?.constraint ?? ''];

/** The refusal of a message beyond the plan's month, with the counts as they are now. */
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
