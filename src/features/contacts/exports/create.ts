import { conflict, notFound } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { Filter } from '../../../core/list-args.ts';
import { callerOf, requireScopes, tenantOf } from '../../../core/principal.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import type { Context } from '../../../schema/context.ts';
import { campaignLoader } from '../../campaigns/loaders.ts';
import { CAMPAIGN_FIELD, parseRecipients, type RecipientsRequest } from '../../campaigns/recipients/export.ts';
import { checkMessageFilter } from '../../messages/export.ts';
import { checkCostFilter } from '../../messages/pricing/export.ts';
import { authorOf } from '../../tenancy/audit/author.ts';
import { record } from '../../tenancy/audit/record.ts';
import { once } from '../../tenancy/idempotency/once.ts';
import { contactsWhere } from '../list.ts';
import { findContacts } from '../store.ts';
import { EXPORTS, type ExportRow, exportLane } from './export.ts';
import { countUnfinished, getExports, insertExport, type NewExport } from './store.ts';

/** Queued and running exports of a tenant. */
const MAX_UNFINISHED = 20;

type Request = Pick<NewExport, 'resource' | 'file_type' | 'filter' | 'contact_id'>;
type Key = string | null | undefined;

/** A list and its filter, by the list. */
export type ExportedList =
  | { readonly field: 'contacts' | 'messages' | 'costs'; readonly value: Filter }
  | {
      readonly field: 'campaignRecipients';
      readonly value: RecipientsRequest;
    };

/**
 * Queues the export of a list.
 * @throws INSUFFICIENT_SCOPE without the scope to read the list; VALIDATION_ERROR for its filter; NOT_FOUND for its campaign; CONFLICT if
 *   20 are waiting
 */
export async function createExport(
  context: Context,
  list: ExportedList,
  fileType: 'csv' | 'json',
  key: Key,
): Promise<ExportRow> {
  const { resource, filter } = await requestOf(context, list);
  return queue(context, 'createExport', { resource, filter, file_type: fileType, contact_id: null }, key);
}

async function requestOf(context: Context, list: ExportedList): Promise<Pick<Request, 'resource' | 'filter'>> {
  const tenantId = tenantOf(context);
  if (list.field === 'campaignRecipients') {
    requireScopes(callerOf(context), ['contacts:export', 'campaigns:read', 'contacts:read']);
    const filter = parseRecipients(tenantId, list.value);
    const campaign = await campaignLoader(context).load(filter.campaignId);
    if (!campaign) throw notFound('Campaign', CAMPAIGN_FIELD);
    return { resource: 'campaign_recipients', filter: { ...filter } };
  }
  const { field: resource, value: filter } = list;
  requireScopes(callerOf(context), ['contacts:export', `${resource}:read`]);
  const check = { contacts: contactsWhere, messages: checkMessageFilter, costs: checkCostFilter }[resource];
  check(tenantId, filter);
  return { resource, filter };
}

/** Queues the export of everything that is held about a person. @throws NOT_FOUND; CONFLICT if 20 are waiting */
export async function exportPerson(context: Context, contactId: number, key: Key): Promise<ExportRow> {
  const found = (await findContacts(context.db.read, tenantOf(context), [contactId])).get(contactId);
  if (!found) throw notFound('Contact');
  const request = { resource: 'contact', filter: null, file_type: 'json', contact_id: found.id } as const;
  return queue(context, 'exportContact', request, key);
}

async function queue(context: Context, operation: string, request: Request, key: Key): Promise<ExportRow> {
  const tenantId = tenantOf(context);
  const job = await once(
    context,
    { operation, key, input: request },
    {
      async run(trx) {
        // Serialises requests, so that their limit is exact.
        await lockTenantUsage(trx, tenantId);
        if ((await countUnfinished(trx, tenantId)) >= MAX_UNFINISHED)
          throw conflict(`${MAX_UNFINISHED} exports are waiting. Try again when one of them is complete.`);
        const author = authorOf(context);
        const created = await insertExport(trx, tenantId, { id: newId(), author, ...request });
        const { resource, file_type: fileType, contact_id: contactId } = request;
        await record(trx, tenantId, {
          author,
          action: 'export.created',
          subject: contactId === null ? `export:${created.id}` : `contact:${contactId}`,
          details: { export: created.id, resource, file_type: fileType },
        });
        return created;
      },
      store: ({ id }) => ({ id }),
      contactId: ({ contact_id: contactId }) => contactId,
      rebuild: async stored => {
        const [row] = await getExports(context.db.write, tenantId, [(stored as { id: string }).id]);
        if (!row) throw notFound('Export');
        return row;
      },
    },
  );
  context.lanes.wake(EXPORTS, exportLane(tenantId));
  return job;
}
