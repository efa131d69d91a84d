import { asId, asList, asNumber, asObject, asText, type JsonObject } from '../../../platform/json.ts';
import type { HealthPatch, Restriction } from '../../health.ts';
import type { NetworkUpdate } from '../../updates.ts';
import { webhookError } from '../errors.ts';
import { type Reading, readTime } from './reading.ts';

type Health = Extract<NetworkUpdate, { kind: 'health' }>;

/** Errors of the account (not of one message), which a change contains next to its lists. */
export function readErrors(reading: Reading): NetworkUpdate[] {
  return asList(reading.value['errors']).map(part => {
    const error = webhookError([part]);
    if (!error) return reading.unreadable('errors', part);
    const { code, title, details } = error;
    const lastError = { code, title, details };
    return healthOf(reading, { lastError }, 'error', part);
  });
}

/** Reads a change about the health of a number or account. @returns undefined if it contains nothing known */
export function readHealth(reading: Reading): NetworkUpdate[] | undefined {
  const patchOf = PATCHES[reading.field];
  const patch = patchOf?.(reading.value);
  return patch && [healthOf(reading, patch, asText(reading.value['event'])), ...ownerOf(reading.value)];
}

/** An `account_update` about a partner names the portfolio that owns the account. */
function ownerOf(value: JsonObject): NetworkUpdate[] {
  const info = asObject(value['waba_info']);
  const [wabaId, portfolioId] = [asId(info?.['waba_id']), asId(info?.['owner_business_id'])];
  return wabaId === undefined || portfolioId === undefined ? [] : [{ kind: 'portfolio', wabaId, portfolioId }];
}

function healthOf(reading: Reading, patch: HealthPatch, event: string | undefined, details?: unknown): Health {
  const { field, value, changedAt, arrivedAt } = reading;
  const at = readTime(value['timestamp']) ?? changedAt;
  return {
    kind: 'health',
    field,
    event,
    at: at ?? arrivedAt,
    ...(at === undefined && { isTimeEstimated: true }),
    patch,
    details: details ?? value,
  };
}

/** Readers of patches by field. An empty patch changes nothing that is stored, but the change is reported as an event. */
const PATCHES: Readonly<Record<string, (value: JsonObject) => HealthPatch | undefined>> = {
  account_update: accountPatch,
  account_alerts: value => (asObject(value['alert_info']) || asText(value['alert_type']) ? {} : undefined),
  account_settings_update: value => (asText(value['type']) === undefined ? undefined : {}),
  account_review_update: value => word(value, 'decision', accountReview => ({ accountReview })),
  business_capability_update: value => limitPatch(value),
  phone_number_quality_update: qualityPatch,
  phone_number_name_update: value =>
    word(value, 'decision', nameStatus => ({
      nameStatus,
      nameReason: reasonOf(value['rejection_reason']),
      ...textOf(value, 'requested_verified_name', requestedName => ({ requestedName })),
    })),
  security: value => word(value, 'event', () => ({})),
  business_username_updates: value =>
    word(value, 'status', usernameStatus => ({
      usernameStatus,
      ...(usernameStatus === 'deleted' ? { username: null } : textOf(value, 'username', username => ({ username }))),
    })),
};

export const HEALTH_FIELDS: readonly string[] = Object.keys(PATCHES);

const word = <T>(value: JsonObject, key: string, then: (word: string) => T): T | undefined => {
  const text = asText(value[key]);
  return text === undefined ? undefined : then(text);
};

const textOf = <T extends object>(value: JsonObject, key: string, then: (text: string) => T): T | object =>
  word(value, key, then) ?? {};

function qualityPatch(value: JsonObject): HealthPatch | undefined {
  const event = asText(value['event']);
  if (event === undefined) return undefined;
  return {
    ...limitPatch(value),
    // A number is flagged while its quality is low; the level after it has risen is not given.
    ...(event === 'FLAGGED' && { quality: 'RED' }),
    ...(event === 'UNFLAGGED' && { quality: 'UNKNOWN' }),
    ...(event === 'THROUGHPUT_UPGRADE' && { throughput: 'HIGH' }),
  };
}

/** `TIER_2K`, `TIER_UNLIMITED`, a number, or -1; under the older names too. */
function limitPatch(value: JsonObject): HealthPatch | undefined {
  const limit = readLimit(
    value['max_daily_conversations_per_business'] ??
      value['max_daily_conversation_per_phone'] ??
      value['current_limit'],
  );
  return limit === undefined ? undefined : { messagingLimit: limit };
}

/** @returns null: unlimited; undefined: not given */
export function readLimit(value: unknown): number | null | undefined {
  const tier = /^TIER_(\d+)(K?)$|^TIER_(UNLIMITED)$/.exec(asText(value) ?? '');
  if (tier) return tier[3] !== undefined ? null : Number(tier[1]) * (tier[2] === 'K' ? 1_000 : 1);
  const number = asNumber(value);
  if (number === undefined || !Number.isInteger(number) || number > 2_147_483_647) return undefined;
  return number < 0 ? null : number;
}

function accountPatch(value: JsonObject): HealthPatch | undefined {
  const event = asText(value['event']);
  switch (event) {
    case undefined:
      return undefined;
    case 'ACCOUNT_DELETED':
      return { accountStatus: 'DELETED' };
    case 'ACCOUNT_OFFBOARDED':
      return { accountStatus: 'OFFBOARDED' };
    case 'ACCOUNT_RECONNECTED':
      return { accountStatus: 'ACTIVE' };
    case 'PARTNER_REMOVED':
    case 'PARTNER_APP_UNINSTALLED':
      return { accountStatus: event };
    case 'PARTNER_ADDED':
    case 'PARTNER_APP_INSTALLED':
      return { accountStatus: 'ACTIVE' };
    case 'ACCOUNT_VIOLATION':
      return { restrictions: [violationOf(asObject(value['violation_info']))] };
    case 'ACCOUNT_RESTRICTION':
      return { accountStatus: 'RESTRICTED', restrictions: asList(value['restriction_info']).flatMap(readRestriction) };
    case 'DISABLED_UPDATE':
      return banPatch(asText(asObject(value['ban_info'])?.['waba_ban_state']));
    default:
      return {};
  }
}

function banPatch(state: string | undefined): HealthPatch {
  if (state === undefined) return {};
  return state === 'REINSTATE' ? { accountStatus: 'ACTIVE', isReinstated: true } : { accountStatus: state };
}

function readRestriction(part: unknown): Restriction[] {
  const fields = asObject(part);
  const type = asText(fields?.['restriction_type']);
  if (!fields || type === undefined) return [];
  const expiresAt = readTime(fields['expiration'])?.toISOString() ?? null;
  return [{ type, expiresAt, remediation: asText(fields['remediation']) ?? null }];
}

const violationOf = (info: JsonObject | undefined): Restriction => ({
  type: `VIOLATION_${asId(info?.['violation_type']) ?? 'UNKNOWN'}`,
  expiresAt: null,
  remediation: asText(info?.['remediation']) ?? null,
});

/** A reason given by the network, which writes `NONE` if there is none. */
export const reasonOf = (value: unknown): string | null => {
  const reason = asText(value);
  return reason === undefined || reason === 'NONE' ? null : reason;
};
