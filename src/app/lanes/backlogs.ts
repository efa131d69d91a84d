import { BOTS } from '../../features/bots/housekeeping.ts';
import { botBacklog } from '../../features/bots/reply/replies.sql.ts';
import { campaignBacklog } from '../../features/campaigns/run/backlog.sql.ts';
import { CAMPAIGNS } from '../../features/campaigns/run/lane.ts';
import { EXPORTS } from '../../features/contacts/exports/export.ts';
import { exportBacklog } from '../../features/contacts/exports/exports.sql.ts';
import { jobBacklog } from '../../features/conversations/jobs/backlog.sql.ts';
import { CONVERSATION_JOBS } from '../../features/conversations/jobs/job.ts';
import { INBOX, inboxBacklog } from '../../features/inbox/webhooks.sql.ts';
import { integrationBacklog } from '../../features/integrations/orders/deliveries.sql.ts';
import { INTEGRATIONS } from '../../features/integrations/orders/delivery.ts';
import { mediaBacklog } from '../../features/messages/content/media/keeping/queue.sql.ts';
import { MEDIA } from '../../features/messages/content/media/keeping/queue.ts';
import { OUTBOX } from '../../features/messages/dispatch/lane.ts';
import { outboxBacklog } from '../../features/messages/dispatch/outbox.sql.ts';
import { TEMPLATE_SYNCS } from '../../features/templates/sync/request-sync.ts';
import { syncBacklog } from '../../features/templates/sync/runs.sql.ts';
import { WEBHOOKS } from '../../features/webhooks/delivery/lane.ts';
import { accountBacklog, shardBacklog } from '../../features/webhooks/delivery/queue.sql.ts';
import type { Backlog } from '../../lanes/store/backlog.sql.ts';

/** Backlogs of the queues whose lanes belong to one account each. */
const OF_ACCOUNTS = {
  [OUTBOX]: outboxBacklog,
  [INBOX]: inboxBacklog,
  [INTEGRATIONS]: integrationBacklog,
  [EXPORTS]: exportBacklog,
  [MEDIA]: mediaBacklog,
  [BOTS]: botBacklog,
  [TEMPLATE_SYNCS]: syncBacklog,
  [CAMPAIGNS]: campaignBacklog,
  [CONVERSATION_JOBS]: jobBacklog,
} as const;

/** Backlogs of all queues, for operators. Webhooks are counted by shard, each of which serves all accounts. */
export const BACKLOGS: Readonly<Record<string, Backlog>> = { ...OF_ACCOUNTS, [WEBHOOKS]: shardBacklog };

/** Backlogs of all queues, for one account: deliveries of other accounts in the same shard are not counted. */
export const ACCOUNT_BACKLOGS = { ...OF_ACCOUNTS, [WEBHOOKS]: accountBacklog };

export type QueueName = keyof typeof ACCOUNT_BACKLOGS;

/** Resource that a lane of a queue serves, by the part of its key after the tenant. */
export const SERVED: Readonly<Partial<Record<QueueName, string>>> = {
  [OUTBOX]: 'Channel',
  [MEDIA]: 'Channel',
  [INTEGRATIONS]: 'Integration',
  [CAMPAIGNS]: 'Campaign',
};
