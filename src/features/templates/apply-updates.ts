import { append } from '../../events.ts';
import type { NetworkUpdate } from '../../network/network.ts';
import type { Db } from '../../platform/database.ts';
import { eventsOf, removalsOf } from './changes.ts';
import { deleteTemplates, patchTemplates, type TemplatePatch } from './store.ts';

type TemplateUpdate = Extract<NetworkUpdate, { kind: 'template' }>;

/** Words for something that happened rather than for a state: which one the template is in, its account tells. */
const PASSING = new Set(['REINSTATED', 'UNARCHIVED', 'PENDING_DELETION']);

/**
 * Writes what the network's webhooks told about templates, with the events that follow. Of several updates of one template
 * the last one counts.
 *
 * @returns the business accounts that have to be read anew: an update names a template that we do not know, or does not say
 *   what has changed
 */
export async function applyTemplateUpdates(
  trx: Db,
  tenantId: number,
  updates: readonly TemplateUpdate[],
): Promise<string[]> {
  if (updates.length === 0) return [];
  const patches = [...merged(updates).values()];
  const [gone, stay] = [patches.filter(isDeleted), patches.filter(patch => !isDeleted(patch))];
  const changes = stay.length > 0 ? await patchTemplates(trx, tenantId, stay) : [];
  const removed = gone.length > 0 ? await deleteTemplates(trx, tenantId, gone) : [];
  await append(trx, tenantId, [...eventsOf(changes), ...removalsOf(removed)]);

  const known = new Set(changes.map(({ row }) => keyOf(row)));
  const unclear = stay.filter(
    patch =>
      !known.has(keyOf(patch)) ||
      PASSING.has(patch.status ?? '') ||
      (patch.status ?? patch.quality ?? patch.category) === undefined,
  );
  return [...new Set(unclear.map(({ waba_id }) => waba_id))];
}

const isDeleted = ({ status }: TemplatePatch): boolean => status === 'DELETED';

const keyOf = ({ waba_id, name, language }: Pick<TemplatePatch, 'waba_id' | 'name' | 'language'>): string =>
  `${waba_id} ${name} ${language}`;

function merged(updates: readonly TemplateUpdate[]): Map<string, TemplatePatch> {
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
