import type { Author } from '../../../core/author.ts';
import { FieldErrorList, invalid } from '../../../core/errors.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { requireActiveChannel } from '../../channels/require-channel.ts';
import { OUTBOX, laneOf as outboxLaneOf } from '../../messages/dispatch/lane.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { once, type WithKey } from '../../tenancy/idempotency/once.ts';
import { checkGroups } from '../audience/parse-audience.ts';
import type { CampaignRow } from '../campaign.ts';
import { lockFor, requireCampaign } from '../change.ts';
import { type Changed, changeStatus, MANUAL } from './change-status.ts';
import { checkContent } from './content.ts';
import { CAMPAIGNS, laneOf } from './lane.ts';
import { readSendingConditions } from './sending-conditions.sql.ts';

export interface StartInput extends WithKey {
  /** ISO; default: now. */
  readonly scheduledAt?: string | null | undefined;
}

/**
 * Starts a campaign, now or later. Everything that would stop it for all recipients is refused here.
 * @throws NOT_FOUND; CONFLICT if it has started; VALIDATION_ERROR on scheduledAt, template and audience.groupIds; MESSAGING_NOT_CONFIGURED;
 *   FEATURE_NOT_AVAILABLE
 */
export async function startCampaign(
  context: Context,
  id: number,
  input: StartInput,
  author: Author = authorOf(context),
): Promise<CampaignRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const nowMs = context.clock.now();
  const at = input.scheduledAt == null ? undefined : Date.parse(input.scheduledAt);
  if (at !== undefined && at < nowMs) throw invalid({ scheduledAt: ['Must be in the future.'] }, 'OUT_OF_RANGE');
  const campaign = await requireCampaign(context, id);
  const errors = new FieldErrorList();
  await checkContent(context, campaign, errors);
  await checkGroups(context, campaign.audience, errors);
  errors.throwIfAny();
  const conditions = await readSendingConditions(context.db.write, tenant.id, id, campaign.channel_id);
  const { channel_id: channelId, channel_status: status, channel_reason: status_reason } = conditions;
  const channel = channelId === null || status === null ? undefined : { id: channelId, status, status_reason };
  const usable = requireActiveChannel(channel, campaign.channel_id !== null);
  return act(context, id, 'startCampaign', input, async trx => {
    const locked = await lockFor(trx, tenant.id, id, at === undefined ? 'start' : 'schedule');
    const change =
      at === undefined
        ? ({ action: 'start', channelId: usable.id } as const)
        : ({ action: 'schedule', at: new Date(at).toISOString() } as const);
    return changeStatus(trx, tenant.id, locked, change, new Date(nowMs).toISOString(), author);
  });
}

/** Pauses a running campaign: nothing more is sent within two seconds. @throws NOT_FOUND, CONFLICT */
export const pauseCampaign = (context: Context, id: number, input: WithKey, author?: Author): Promise<CampaignRow> =>
  actSimply(
    context,
    id,
    'pauseCampaign',
    input,
    { action: 'pause', code: MANUAL, details: 'Somebody paused it.' },
    author,
  );

/** Resumes a paused campaign. @throws NOT_FOUND, CONFLICT */
export const resumeCampaign = (context: Context, id: number, input: WithKey, author?: Author): Promise<CampaignRow> =>
  actSimply(context, id, 'resumeCampaign', input, { action: 'resume' }, author);

/** Cancels a campaign for good: nothing more is sent within two seconds. @throws NOT_FOUND, CONFLICT */
export const cancelCampaign = (context: Context, id: number, input: WithKey, author?: Author): Promise<CampaignRow> =>
  actSimply(context, id, 'cancelCampaign', input, { action: 'cancel' }, author);

const actSimply = (
  context: Context,
  id: number,
  operation: string,
  input: WithKey,
  change: Parameters<typeof changeStatus>[3] & { readonly action: 'pause' | 'resume' | 'cancel' },
  author: Author = authorOf(context),
): Promise<CampaignRow> =>
  act(context, id, operation, input, async trx => {
    const tenantId = tenantOf(context);
    const locked = await lockFor(trx, tenantId, id, change.action);
    return changeStatus(trx, tenantId, locked, change, new Date(context.clock.now()).toISOString(), author);
  });

/** Runs a change once per idempotency key, and wakes the lanes that it concerns. */
async function act(
  context: Context,
  id: number,
  operation: string,
  input: WithKey,
  run: (trx: Parameters<typeof changeStatus>[0]) => Promise<Changed>,
): Promise<CampaignRow> {
  const tenantId = tenantOf(context);
  let released: readonly number[] = [];
  const campaign = await once(
    context,
    { operation, key: input.idempotencyKey, input: { ...input, id } },
    {
      run: async trx => {
        const changed = await run(trx);
        released = changed.released;
        return changed.campaign;
      },
      store: () => ({ id }),
      rebuild: () => requireCampaign(context, id),
    },
  );
  for (const channelId of released) context.lanes.wake(OUTBOX, outboxLaneOf(tenantId, channelId));
  context.lanes.wake(CAMPAIGNS, laneOf(tenantId, id));
  context.signals.send('events');
  return campaign;
}
