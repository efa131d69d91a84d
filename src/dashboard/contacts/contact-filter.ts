import type { ConsentState, ContactFilter, ContactType } from '../documents.generated.ts';

/** Type of the operand of a condition, and the source of its choices. */
export type ValueKind = 'type' | 'group' | 'status' | 'source' | 'staff' | 'country' | 'text' | 'date' | 'none';

interface Rule {
  readonly kind: ValueKind;
  write(value: string): ContactFilter;
  /** The operand of a filter; undefined if the filter is not of this rule. */
  read(filter: ContactFilter): string | undefined;
}

const dateOf = (instant: unknown): string | undefined =>
  typeof instant === 'string' ? instant.slice(0, 10) : undefined;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const flag = (isIt: boolean): string | undefined => (isIt ? '' : undefined);

const consentRule = (state: ConsentState): Rule => ({
  kind: 'none',
  write: () => ({ consent: { category: 'MARKETING', eq: state } }),
  read: ({ consent }) => flag(consent?.category === 'MARKETING' && consent.eq === state),
});

/** The conditions that the page can write, each one a filter of the API. */
export const RULES = {
  typeIs: {
    kind: 'type',
    write: value => ({ type: { eq: value as ContactType } }),
    read: ({ type }) => textOf(type?.eq),
  },
  groupIs: { kind: 'group', write: eq => ({ groupId: { eq } }), read: ({ groupId }) => textOf(groupId?.eq) },
  statusIs: { kind: 'status', write: eq => ({ statusId: { eq } }), read: ({ statusId }) => textOf(statusId?.eq) },
  sourceIs: { kind: 'source', write: eq => ({ sourceId: { eq } }), read: ({ sourceId }) => textOf(sourceId?.eq) },
  assigneeIs: {
    kind: 'staff',
    write: eq => ({ assigneeId: { eq } }),
    read: ({ assigneeId }) => textOf(assigneeId?.eq),
  },
  countryIs: { kind: 'country', write: eq => ({ country: { eq } }), read: ({ country }) => textOf(country?.eq) },
  companyHas: { kind: 'text', write: like => ({ company: { like } }), read: ({ company }) => textOf(company?.like) },
  companyMissing: {
    kind: 'none',
    write: () => ({ company: { isNull: true } }),
    read: ({ company }) => flag(company?.isNull === true),
  },
  emailHas: { kind: 'text', write: like => ({ email: { like } }), read: ({ email }) => textOf(email?.like) },
  emailMissing: {
    kind: 'none',
    write: () => ({ email: { isNull: true } }),
    read: ({ email }) => flag(email?.isNull === true),
  },
  phoneHas: { kind: 'text', write: like => ({ phone: { like } }), read: ({ phone }) => textOf(phone?.like) },
  marketingYes: consentRule('OPTED_IN'),
  marketingNo: consentRule('OPTED_OUT'),
  optedOut: {
    kind: 'none',
    write: () => ({ isOptedOut: { eq: true } }),
    read: ({ isOptedOut }) => flag(isOptedOut?.eq === true),
  },
  notOptedOut: {
    kind: 'none',
    write: () => ({ isOptedOut: { eq: false } }),
    read: ({ isOptedOut }) => flag(isOptedOut?.eq === false),
  },
  createdSince: {
    kind: 'date',
    write: value => ({ createdAt: { gte: value } }),
    read: ({ createdAt }) => dateOf(createdAt?.gte),
  },
  createdBefore: {
    kind: 'date',
    write: value => ({ createdAt: { lt: value } }),
    read: ({ createdAt }) => dateOf(createdAt?.lt),
  },
  messageSince: {
    kind: 'date',
    write: value => ({ lastMessageAt: { gte: value } }),
    read: ({ lastMessageAt }) => dateOf(lastMessageAt?.gte),
  },
  messageBefore: {
    kind: 'date',
    write: value => ({ lastMessageAt: { lt: value } }),
    read: ({ lastMessageAt }) => dateOf(lastMessageAt?.lt),
  },
  messageNever: {
    kind: 'none',
    write: () => ({ lastMessageAt: { isNull: true } }),
    read: ({ lastMessageAt }) => flag(lastMessageAt?.isNull === true),
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
export const RULE_NAMES = Object.keys(RULES) as readonly RuleName[];

/** One row of the editor. A row without its value is not part of the filter yet. */
export interface Condition {
  readonly rule: RuleName;
  readonly value: string;
}

const isComplete = ({ rule, value }: Condition): boolean => RULES[rule].kind === 'none' || value.trim() !== '';

/** The API's filter for conditions that must all hold; empty without conditions. */
export function filterOf(conditions: readonly Condition[]): ContactFilter {
  const parts = conditions.filter(isComplete).map(({ rule, value }) => RULES[rule].write(value.trim()));
  return parts.length === 1 ? (parts[0] ?? {}) : parts.length > 1 ? { and: parts } : {};
}

/** Whether two filters are equal, ignoring the order of their fields, which jsonb does not keep. */
export const isSame = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([first], [second]) => (first < second ? -1 : 1)))
      : each,
  );

function conditionOf(filter: ContactFilter): Condition | undefined {
  if (Object.values(filter).filter(each => each != null).length !== 1) return undefined;
  for (const rule of RULE_NAMES) {
    const value = RULES[rule].read(filter);
    if (value === undefined) continue;
    // A filter with further fields is not of this rule.
    if (isSame(RULES[rule].write(value), filter) || RULES[rule].kind === 'date') return { rule, value };
  }
  return undefined;
}

/** The rows of the editor for a filter; undefined if the editor cannot show it. */
export function conditionsOf(filter: ContactFilter): readonly Condition[] | undefined {
  const { and, ...rest } = filter;
  const single = Object.entries(rest).map(([field, condition]) => ({ [field]: condition }) as ContactFilter);
  const conditions = [...single, ...(and ?? [])].map(conditionOf);
  return conditions.every(each => each !== undefined) ? conditions : undefined;
}

/** Reads a filter from the URL, where it is the API's JSON. Invalid text is an empty filter. */
export function readFilter(text: string | null): ContactFilter {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

export const writeFilter = (filter: ContactFilter): string =>
  Object.keys(filter).length === 0 ? '' : JSON.stringify(filter);
