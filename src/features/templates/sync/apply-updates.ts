import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { deleteTemplates, patchTemplates, type TemplatePatch } from '../changes.sql.ts';
import { changeEvents, removalEvents } from '../events.ts';
import { listRunning } from './runs.sql.ts';

type TemplateUpdate = Extract<NetworkUpdate, { kind: 'template' }>;

/** Statuses of webhooks that are transitions, not states: the state has to be read from the network. */
const TRANSITIONS = new Set(['REINSTATED', 'UNARCHIVED', 'PENDING_DELETION']);

/**
 * Applies the network's template webhooks and appends the events. For one template, the last update wins.
 *
 * @returns the business accounts that need a sync: an update named an unknown template, did not contain the change, was
 *   late, or changed a template while a sync was reading, which may have read it before
 */
export async function applyTemplateUpdates(
  trx: Db,
  tenantId: number,
  updates: readonly TemplateUpdate[],
): Promise<string[]> {
  if (updates.length === 0) return [];
  const patches = [...mergePatches(updates).values()];
  const [deleted, changed] = [patches.filter(isDeleted), patches.filter(patch => !isDeleted(patch))];
  const changes = changed.length > 0 ? await patchTemplates(trx, tenantId, changed) : [];
  const removed = deleted.length > 0 ? await deleteTemplates(trx, tenantId, deleted) : [];
  await append(trx, tenantId, [...changeEvents(changes), ...removalEvents(removed)]);

  const known = new Set(changes.map(({ row }) => keyOf(row)));
  const unresolved = changed.filter(
    patch =>
      !known.has(keyOf(patch)) ||
      TRANSITIONS.has(patch.status ?? '') ||
      (patch.status ?? patch.quality ?? patch.category) === undefined,
  );
  const written = [...new Set(patches.map(({ waba_id }) => waba_id))];
  const running = await listRunning(trx, tenantId, written);
  const late = updates.flatMap(({ wabaId, isLate }) => (isLate ? [wabaId] : []));
  return [...new Set([...unresolved.map(({ waba_id }) => waba_id), ...late, ...running])];
}

const isDeleted = ({ status }: TemplatePatch): boolean => status === 'DELETED';

const keyOf = ({ waba_id, name, language }: Pick<TemplatePatch, 'waba_id' | 'name' | 'language'>): string =>
  `${waba_id} ${name} ${language}`;

function mergePatches(updates: readonly TemplateUpdate[]): Map<string, TemplatePatch> {
  const patches = new Map<string, TemplatePatch>();
  for (const { wabaId, name, language, status, quality, category } of updates) {
    const patch = { waba_id: wabaId, name, language };
    patches.set(keyOf(patch), {
      ...patch,
      ...patches.get(keyOf(patch)),
      ...(status && { status: status.word, status_reason: status.reason }),
      ...(quality !== undefined && { quality }),
      ...(category !== undefined && { category }),
    });
  }
  return patches;
}
