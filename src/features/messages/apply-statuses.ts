import { append, type NewEvent } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { publicMessage } from './message.ts';
import { deleteFromOutbox } from './outbox.ts';
import { foldStatuses, type StatusUpdate } from './status.ts';
import { findIdsByWamid, lockOutbound, writeStatuses } from './statuses-store.ts';

/** A status with the message it is of: by our id where the network echoed it, else by the network's. */
export type AddressedStatus = StatusUpdate & { readonly messageId?: string | undefined };

/**
 * Brings messages forward, with an event for each step, and settles what waited in the outbox. Set-based: five statements
 * for any number of updates. What belongs to no message of the tenant is passed over (another system sends from the same
 * number, or the contact was deleted).
 *
 * @returns the channels whose outbox something left: what waited behind it may go now
 */
export async function applyStatuses(
  trx: Db,
  tenantId: number,
  updates: readonly AddressedStatus[],
  nowMs: number,
): Promise<number[]> {
  const byId = await groupById(trx, tenantId, updates);
  if (byId.size === 0) return [];
  const rows = await lockOutbound(trx, tenantId, [...byId.keys()]);
  const nowIso = new Date(nowMs).toISOString();
  const changed = [];
  const settled: string[] = [];
  const events: NewEvent[] = [];
  for (const row of rows) {
    const { message, steps } = foldStatuses(row, byId.get(row.id) ?? [], nowIso);
    if (message !== row) changed.push(message);
    if (message.status !== 'queued') settled.push(row.id);
    for (const step of steps) events.push(stepEvent(step.status, publicMessage(step)));
  }
  if (changed.length > 0) await writeStatuses(trx, tenantId, changed);
  const released = settled.length > 0 ? await deleteFromOutbox(trx, tenantId, settled) : [];
  await append(trx, tenantId, events);
  return released;
}

function stepEvent(status: string, message: ReturnType<typeof publicMessage>): NewEvent {
  switch (status) {
    case 'sent':
    case 'delivered':
    case 'read':
    case 'failed':
      return { type: `message.${status}`, payload: { message } };
    default:
      throw new Error(`No event tells of the status ${status}.`);
  }
}

async function groupById(
  trx: Db,
  tenantId: number,
  updates: readonly AddressedStatus[],
): Promise<Map<string, AddressedStatus[]>> {
  const unknown = updates.flatMap(update =>
    update.messageId === undefined && update.wamid !== undefined ? [update.wamid] : [],
  );
  const idByWamid = unknown.length > 0 ? await findIdsByWamid(trx, tenantId, unknown) : new Map<string, string>();
  const byId = new Map<string, AddressedStatus[]>();
  for (const update of updates) {
    const id = update.messageId ?? idByWamid.get(update.wamid ?? '');
    if (id === undefined) continue;
    const list = byId.get(id);
    if (list) list.push(update);
    else byId.set(id, [update]);
  }
  return byId;
}
