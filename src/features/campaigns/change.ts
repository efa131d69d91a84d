import { conflict, invalid, notFound } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { differs } from '../../platform/differs.ts';
import type { Context } from '../../schema/context.ts';
import { authorOf } from '../tenancy/audit/author.ts';
import { once, type WithKey } from '../tenancy/idempotency/once.ts';
import type { Audience } from './audience/audience.ts';
import type { CampaignRow } from './campaign.ts';
import { holdList } from './lists/store.ts';
import { type CampaignInput, parseCampaign } from './parse-campaign.ts';
import { type CampaignAction, refusalOf, statusAfter } from './state.ts';
import { deleteCampaign, getCampaigns, insertCampaign, lockCampaign, updateCampaign } from './store.ts';

/** @throws NOT_FOUND */
export async function requireCampaign(context: Context, id: number): Promise<CampaignRow> {
  const [campaign] = await getCampaigns(context.db.read, tenantOf(context), [id]);
  if (!campaign) throw notFound('Campaign');
  return campaign;
}

/** Locks a campaign for an action. @throws NOT_FOUND; CONFLICT if its status does not allow the action */
export async function lockFor(trx: Db, tenantId: number, id: number, action: CampaignAction): Promise<CampaignRow> {
  const campaign = await lockCampaign(trx, tenantId, id);
  if (!campaign) throw notFound('Campaign');
  if (statusAfter(campaign.status, action) === undefined)
    throw conflict(refusalOf(campaign.status, action), { status: campaign.status });
  return campaign;
}

/** Creates a draft. @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, MESSAGING_NOT_CONFIGURED */
export async function createCampaign(context: Context, input: WithKey<CampaignInput>): Promise<CampaignRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const fields = await parseCampaign(context, input, undefined);
  return once(
    context,
    { operation: 'createCampaign', key: input.idempotencyKey, input },
    {
      run: async trx => {
        await requireList(trx, tenant.id, fields.audience);
        return insertCampaign(trx, tenant.id, fields, authorOf(context));
      },
      store: ({ id }) => ({ id }),
      rebuild: stored => requireCampaign(context, (stored as { id: number }).id),
    },
  );
}

/** Detects a list that is being deleted concurrently: a campaign without its list would have no recipients. */
async function requireList(trx: Db, tenantId: number, audience: Audience): Promise<void> {
  if ('listId' in audience && !(await holdList(trx, tenantId, audience.listId)))
    throw invalid({ 'audience.listId': [`There is no list with the id ${audience.listId}.`] }, 'REFERENCE_NOT_FOUND');
}

/** Changes a campaign that has not started; without a difference `updated_at` does not change. @throws NOT_FOUND, CONFLICT, and the errors of `createCampaign` */
export async function changeCampaign(
  context: Context,
  id: number,
  input: WithKey<CampaignInput>,
): Promise<CampaignRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const before = await requireCampaign(context, id);
  const fields = await parseCampaign(context, input, before);
  return once(
    context,
    { operation: 'updateCampaign', key: input.idempotencyKey, input: { ...input, id } },
    {
      run: async trx => {
        const locked = await lockFor(trx, tenant.id, id, 'change');
        if (locked.updated_at !== before.updated_at)
          throw conflict('Another request changed the campaign at the same time. Try again.');
        await requireList(trx, tenant.id, fields.audience);
        // As the table has them: without undefined fields.
        if (!differs(locked, JSON.parse(JSON.stringify(fields)) as object)) return locked;
        return updateCampaign(trx, tenant.id, id, fields);
      },
      store: () => ({ id }),
      rebuild: () => requireCampaign(context, id),
    },
  );
}

/** Deletes a campaign that never started or has ended. Its messages stay. @throws NOT_FOUND, CONFLICT */
export const removeCampaign = (
  context: Context,
  id: number,
  idempotencyKey: string | null | undefined,
): Promise<void> =>
  once<void>(
    context,
    { operation: 'deleteCampaign', key: idempotencyKey, input: { id } },
    {
      run: async trx => {
        await lockFor(trx, tenantOf(context), id, 'delete');
        await deleteCampaign(trx, tenantOf(context), id);
      },
      store: () => ({ id }),
      rebuild: async () => undefined,
    },
  );
