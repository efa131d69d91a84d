export const STATUSES = ['draft', 'scheduled', 'running', 'paused', 'completed', 'cancelled', 'failed'] as const;
export type CampaignStatus = (typeof STATUSES)[number];

export type CampaignAction =
  | 'schedule'
  | 'start'
  | 'pause'
  | 'resume'
  | 'complete'
  | 'cancel'
  | 'fail'
  | 'change'
  | 'delete';

interface Transition {
  readonly from: readonly CampaignStatus[];
  /** Undefined: the status stays, or the campaign is gone. */
  readonly to: CampaignStatus | undefined;
}

/** State machine of campaigns. Completed, cancelled and failed are final. */
export const TRANSITIONS: Readonly<Record<CampaignAction, Transition>> = {
  schedule: { from: ['draft', 'scheduled'], to: 'scheduled' },
  start: { from: ['draft', 'scheduled'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  complete: { from: ['running'], to: 'completed' },
  cancel: { from: ['scheduled', 'running', 'paused'], to: 'cancelled' },
  fail: { from: ['scheduled', 'running', 'paused'], to: 'failed' },
  change: { from: ['draft', 'scheduled'], to: undefined },
  delete: { from: ['draft', 'completed', 'cancelled', 'failed'], to: undefined },
};

/** The status after an action; undefined if the action is not possible. */
export function statusAfter(status: CampaignStatus, action: CampaignAction): CampaignStatus | undefined {
  const { from, to } = TRANSITIONS[action];
  return from.includes(status) ? (to ?? status) : undefined;
}

/** Why an action is not possible, with the statuses in which it is. */
export function refusalOf(status: CampaignStatus, action: CampaignAction): string {
  const permitted = new Intl.ListFormat('en', { type: 'disjunction' }).format(TRANSITIONS[action].from);
  return `Cannot ${action} a campaign that is ${status}. It must be ${permitted}.`;
}
