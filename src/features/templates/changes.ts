import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../../events.ts';
import type { ChangedTemplate } from './store.ts';
import { type PublicTemplate, TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

/** Told of by an event of its own, together with its reason. */
const STATUS = ['status', 'status_reason'] as const;
const OTHERS = TEMPLATE_COLUMNS.filter(
  column => !(STATUS as readonly string[]).includes(column) && column !== 'updated_at',
);

/** The events that tell what became of templates: up to two for each, because a change of status is one of its own. */
export const eventsOf = (changes: readonly ChangedTemplate[]): NewEvent[] =>
  changes.flatMap(({ row, previous }): NewEvent[] => {
    if (!previous) return [{ type: 'template.created', payload: { template: row } }];
    const [others, status] = [difference(row, previous, OTHERS), difference(row, previous, STATUS)];
    return [
      ...(others ? [{ type: 'template.updated', payload: { template: row, previous: others } } as const] : []),
      ...(status ? [{ type: 'template.status_changed', payload: { template: row, previous: status } } as const] : []),
    ];
  });

/**
 * Templates that are gone, told as a last change of status: consumers that watch what can be sent need no other event, and
 * the payload is the last that anybody will see of them.
 */
export const removalsOf = (rows: readonly TemplateRow[]): NewEvent[] =>
  rows.map(row => ({
    type: 'template.status_changed',
    payload: { template: { ...row, status: 'DELETED', status_reason: null }, previous: { status: row.status } },
  }));

/** The old values of those columns that have changed. */
function difference(
  row: PublicTemplate,
  previous: PublicTemplate,
  columns: readonly (keyof PublicTemplate)[],
): Partial<PublicTemplate> | undefined {
  const changed = columns.filter(column => !isDeepStrictEqual(row[column], previous[column]));
  return changed.length > 0 ? Object.fromEntries(changed.map(column => [column, previous[column]])) : undefined;
}
