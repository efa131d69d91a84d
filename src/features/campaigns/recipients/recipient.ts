/** States of a recipient, as `campaign_recipients.state` has them. Later ones win, apart from pending and waiting. */
export const STATE = {
  pending: 0,
  /** Until `due_at`; with a message id: being accepted. */
  waiting: 1,
  skipped: 2,
  queued: 3,
  sent: 4,
  delivered: 5,
  read: 6,
  failed: 7,
  cancelled: 8,
} as const;
export type RecipientState = keyof typeof STATE;
export const RECIPIENT_STATES = Object.keys(STATE) as readonly RecipientState[];

/** Why a recipient was skipped, as `campaign_recipients.reason` has it. */
export const REASON = {
  opted_out: 1,
  no_number: 2,
  duplicate: 3,
  blocked: 4,
  frequency_cap: 5,
  outside_hours: 6,
  gone: 7,
  invalid: 8,
} as const;
export type SkipReason = keyof typeof REASON;
export const SKIP_REASONS = Object.keys(REASON) as readonly SkipReason[];

export const stateOf = (value: number): RecipientState => RECIPIENT_STATES[value] ?? 'pending';
export const reasonOf = (value: number | null): SkipReason | null =>
  SKIP_REASONS.find(reason => REASON[reason] === value) ?? null;

/** The network's code for a person whom the business has blocked. */
export const BLOCKED_CODE = 130_403;
