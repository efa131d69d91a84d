import { isDeepStrictEqual } from 'node:util';
import type { HealthPatch, Restriction } from '../../network/health.ts';

/** The health of a channel on the network, as events carry it. Null if never reported. */
export interface PublicHealth {
  readonly channel_id: number;
  /** GREEN, YELLOW, RED or UNKNOWN. */
  readonly quality: string | null;
  /** Unique people per day outside service windows; null if unlimited or unknown. */
  readonly messaging_limit: number | null;
  readonly is_messaging_limit_known: boolean;
  readonly throughput: string | null;
  readonly name_status: string | null;
  readonly name_reason: string | null;
  readonly requested_name: string | null;
  readonly account_review: string | null;
  readonly account_status: string | null;
  readonly username: string | null;
  readonly username_status: string | null;
  /** AVAILABLE, LIMITED or BLOCKED, by the last check. */
  readonly can_send: string | null;
  /** The last time that the network was asked for the health. */
  readonly checked_at: string | null;
  readonly restrictions: readonly PublicRestriction[];
  readonly last_error: { readonly code: number; readonly title: string; readonly details: string } | null;
  readonly last_change: HealthChange | null;
  readonly updated_at: string;
}

export interface PublicRestriction {
  readonly type: string;
  readonly expires_at: string | null;
  readonly remediation: string | null;
}

/** The last report of the network. */
export interface HealthChange {
  /** The field of the webhook. */
  readonly field: string;
  readonly event: string | null;
  readonly occurred_at: string;
  /** The time that the network gave, where that was ahead of our clock. */
  readonly reported_at?: string;
  /** The network's payload, unchanged. */
  readonly details: unknown;
}

/** The network's times of the newest webhooks, by the property of `HealthPatch` that they set or the restriction. */
export type ToldAt = Readonly<Record<string, string>>;

const restrictionKey = (type: string): string => `restriction ${type}`;

/** The part of a webhook's patch that no later one has overtaken: webhooks arrive in any order, repeated ones days later. */
export function newestOf(patch: HealthPatch, toldAt: ToldAt, at: string): HealthPatch {
  const isNewest = (key: string): boolean => at >= (toldAt[key] ?? '');
  const { restrictions, ...values } = patch;
  const isStanding = ({ type }: Restriction): boolean => isNewest(restrictionKey(type)) && isNewest('isReinstated');
  return {
    ...(Object.fromEntries(Object.entries(values).filter(([key]) => isNewest(key))) as HealthPatch),
    ...(restrictions && { restrictions: restrictions.filter(isStanding) }),
  };
}

/** @param patch what `newestOf` left */
export function toldAtAfter(toldAt: ToldAt, { restrictions = [], ...values }: HealthPatch, at: string): ToldAt {
  const keys = [...Object.keys(values), ...restrictions.map(({ type }) => restrictionKey(type))];
  return { ...toldAt, ...Object.fromEntries(keys.map(key => [key, at])) };
}

/**
 * Applies a change. A restriction replaces the earlier one of its type; expired ones are removed, and by a reinstatement those that were
 * not told after it.
 */
export function healthAfter(
  health: PublicHealth,
  patch: HealthPatch,
  change: HealthChange,
  toldAt: ToldAt = {},
): PublicHealth {
  const { messagingLimit, restrictions = [], isReinstated } = patch;
  const current = isReinstated
    ? health.restrictions.filter(({ type }) => (toldAt[restrictionKey(type)] ?? '') > change.occurred_at)
    : health.restrictions;
  return {
    ...health,
    ...defined({
      quality: patch.quality,
      throughput: patch.throughput,
      name_status: patch.nameStatus,
      name_reason: patch.nameReason,
      requested_name: patch.requestedName,
      account_review: patch.accountReview,
      account_status: patch.accountStatus,
      username: patch.username,
      username_status: patch.usernameStatus,
      last_error: patch.lastError,
      can_send: patch.canSend,
    }),
    ...(messagingLimit !== undefined && { messaging_limit: messagingLimit, is_messaging_limit_known: true }),
    restrictions: [
      ...current.filter(
        old =>
          !restrictions.some(({ type }) => type === old.type) &&
          (old.expires_at === null || old.expires_at > change.occurred_at),
      ),
      ...restrictions.map(publicRestriction),
    ],
    last_change: change,
  };
}

const publicRestriction = ({ type, expiresAt, remediation }: Restriction): PublicRestriction => ({
  type,
  expires_at: expiresAt,
  remediation,
});

const defined = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

/** The old values of the fields that changed. */
export const previousHealth = (before: PublicHealth, after: PublicHealth): Partial<PublicHealth> =>
  Object.fromEntries(
    Object.entries(before).filter(
      ([key, value]) => !SET_BY_EVERY_REPORT.has(key) && !isDeepStrictEqual(value, after[key as keyof PublicHealth]),
    ),
  );

/** Fields that would make every report a change. */
const SET_BY_EVERY_REPORT: ReadonlySet<string> = new Set(['last_change', 'updated_at', 'checked_at']);
