import type { ListFields } from '../runtime/query.ts';
import type {
  CampaignFilter,
  CampaignOrderField,
  CampaignRecipientFilter,
  CampaignRowFragment,
  ListCampaignRecipientsQuery,
  PreviewRecipientListQuery,
  RecipientListFilter,
  RecipientListOrderField,
  RecipientListRowFragment,
} from './documents.generated.ts';
import { rowKey, type WriteTime } from './values.ts';

const STATUSES = {
  draft: 'DRAFT',
  scheduled: 'SCHEDULED',
  running: 'RUNNING',
  paused: 'PAUSED',
  completed: 'COMPLETED',
  cancelled: 'CANCELLED',
  failed: 'FAILED',
} as const;

export const STATES = {
  pending: 'PENDING',
  waiting: 'WAITING',
  skipped: 'SKIPPED',
  queued: 'QUEUED',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'READ',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
} as const;

/** Filter and sort fields of campaigns. */
export const CAMPAIGN_LIST: ListFields<CampaignFilter, CampaignOrderField> = {
  filters: {
    name: ['name', 'text'],
    status: ['status', STATUSES],
    scheduled_at: ['scheduledAt', 'time'],
    started_at: ['startedAt', 'time'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

/** Filter and sort fields of uploaded lists. */
export const UPLOADED_LIST: ListFields<RecipientListFilter, RecipientListOrderField> = {
  filters: { name: ['name', 'text'], created_at: ['createdAt', 'time'] },
  sorts: { id: 'ID', name: 'NAME', created_at: 'CREATED_AT' },
};

/** Filter fields of recipients. */
export const RECIPIENT_LIST: ListFields<CampaignRecipientFilter, never> = {
  filters: { state: ['state', STATES] },
  sorts: {},
};

/** A campaign in REST. Fields that were not read stay undefined, which JSON omits. */
export const campaignRowBy = (time: WriteTime) => (campaign: CampaignRowFragment) => ({
  ...campaign,
  id: rowKey(campaign.id),
  status: campaign.status?.toLowerCase(),
  progress: campaign.progress && {
    ...campaign.progress,
    skips: campaign.progress.skips.map(({ reason, count }) => ({ reason: reason.toLowerCase(), count })),
  },
  scheduled_at: time(campaign.scheduled_at),
  started_at: time(campaign.started_at),
  ended_at: time(campaign.ended_at),
  created_at: time(campaign.created_at),
  updated_at: time(campaign.updated_at),
});

export const recipientListRowBy = (time: WriteTime) => (list: RecipientListRowFragment) => ({
  ...list,
  id: rowKey(list.id),
  created_at: time(list.created_at),
  updated_at: time(list.updated_at),
});

/** GraphQL's names of a mapping's fields, with those of REST. The bodies of contacts have `firstname` and `lastname` instead. */
const MAPPED_FIELDS: Readonly<Record<string, string>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  timeZone: 'time_zone',
};
export const MAPPING_NAMES = Object.fromEntries(
  Object.entries(MAPPED_FIELDS).map(([name, wired]) => [`mapping.${name}`, `mapping.${wired}`]),
);

type Preview = NonNullable<PreviewRecipientListQuery['result']['preview']>;

/** The preview of a list. Fields have the names of the mapping. */
export const listPreview = ({ samples, ...preview }: Preview) => ({
  ...preview,
  samples: samples.map(({ contact, fields, ...sample }) => ({
    ...sample,
    contact: contact && { id: rowKey(contact.id) },
    fields: fields.map(({ name, value }) => ({ name: MAPPED_FIELDS[name] ?? name, value })),
  })),
});

type Recipient = NonNullable<NonNullable<ListCampaignRecipientsQuery['campaign']>['recipients']>['nodes'][number];

export const recipientRowBy = (time: WriteTime) => (recipient: Recipient) => ({
  ...recipient,
  contact: recipient.contact && { id: rowKey(recipient.contact.id) },
  state: recipient.state.toLowerCase(),
  skip_reason: recipient.skip_reason?.toLowerCase() ?? null,
  consent_entry: recipient.consent_entry && { id: rowKey(recipient.consent_entry.id) },
  due_at: time(recipient.due_at),
  replied_at: time(recipient.replied_at),
});
