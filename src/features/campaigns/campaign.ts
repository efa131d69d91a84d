import type { Author } from '../../core/author.ts';
import type { Values } from '../templates/sending/parameters.ts';
import type { Audience } from './audience/audience.ts';
import type { Progress } from './recipients/progress.ts';
import type { CampaignStatus } from './state.ts';

/** The template of a campaign with its values, in which merge fields and columns of the list are filled for each recipient. */
export interface CampaignTemplate extends Values {
  readonly name: string;
  readonly language: string;
}

/** Local times of day between which recipients get messages: `HH:MM`. A range may pass midnight. */
export interface SendingHours {
  readonly start: string;
  readonly end: string;
}

/** At most so many messages of the template's category to one person in so many days, from any source. */
export interface FrequencyCap {
  readonly messages: number;
  readonly days: number;
}

/** A row of `campaigns`. */
export interface CampaignRow {
  readonly id: number;
  readonly name: string;
  readonly status: CampaignStatus;
  /** Why it is paused or failed: a word for programs. */
  readonly status_code: string | null;
  readonly status_reason: string | null;
  /** Null: the default channel at the start. */
  readonly channel_id: number | null;
  readonly template: CampaignTemplate;
  readonly audience: Audience;
  readonly messages_per_second: number | null;
  readonly sending_hours: SendingHours | null;
  readonly frequency_cap: FrequencyCap | null;
  readonly first_wave: number | null;
  readonly first_wave_seconds: number;
  readonly max_failure_percent: number;
  readonly scheduled_at: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly total: number;
  readonly pending: number;
  readonly skipped: number;
  readonly author: Author;
  readonly created_at: string;
  readonly updated_at: string;
  /** Read with the row, where a stream compares both. */
  readonly progress?: Progress;
}

export const CAMPAIGN_COLUMNS = [
  'id',
  'name',
  'status',
  'status_code',
  'status_reason',
  'channel_id',
  'template',
  'audience',
  'messages_per_second',
  'sending_hours',
  'frequency_cap',
  'first_wave',
  'first_wave_seconds',
  'max_failure_percent',
  'scheduled_at',
  'started_at',
  'ended_at',
  'total',
  'pending',
  'skipped',
  'author',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof CampaignRow)[];

/** Fields of a campaign that a caller sets. */
export type CampaignFields = Pick<
  CampaignRow,
  | 'name'
  | 'channel_id'
  | 'template'
  | 'audience'
  | 'messages_per_second'
  | 'sending_hours'
  | 'frequency_cap'
  | 'first_wave'
  | 'first_wave_seconds'
  | 'max_failure_percent'
>;

/** A campaign in events and webhooks: without its audience, which may name people. */
export interface PublicCampaign {
  readonly id: number;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly status_code: string | null;
  readonly status_reason: string | null;
  readonly channel_id: number | null;
  readonly template: { readonly name: string; readonly language: string };
  readonly total: number;
  readonly pending: number;
  readonly skipped: number;
  readonly scheduled_at: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const publicCampaign = (row: CampaignRow): PublicCampaign => ({
  id: row.id,
  name: row.name,
  status: row.status,
  status_code: row.status_code,
  status_reason: row.status_reason,
  channel_id: row.channel_id,
  template: { name: row.template.name, language: row.template.language },
  total: row.total,
  pending: row.pending,
  skipped: row.skipped,
  scheduled_at: row.scheduled_at,
  started_at: row.started_at,
  ended_at: row.ended_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Limits: characters, counts or the unit in the name. */
export const MAX = {
  name: 255,
  perSecond: 1_000,
  capMessages: 100,
  capDays: 90,
  firstWave: 100_000,
  firstWaveSeconds: 86_400,
} as const;
export const DEFAULTS = { firstWaveSeconds: 300, maxFailurePercent: 20 } as const;
