import { isDeepStrictEqual } from 'node:util';
import type { Changed, NewEvent } from '../../core/events.ts';
import type { ChangedTemplate } from './changes.sql.ts';
import { type EventTemplate, eventTemplate, TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

declare module '../../core/events.ts' {
  interface EventPayloads {
    'template.created': { readonly template: EventTemplate };
    'template.updated': { readonly template: EventTemplate } & Changed<EventTemplate>;
    /** Also the last event of a removed template, with the status DELETED. */
    'template.status_changed': { readonly template: EventTemplate } & Changed<EventTemplate>;
  }
}

/** Reported by `template.status_changed`. */
const STATUS_COLUMNS = ['status', 'status_reason'] as const;
const OTHER_COLUMNS = TEMPLATE_COLUMNS.filter(
  column => !(STATUS_COLUMNS as readonly string[]).includes(column) && column !== 'updated_at',
);

/** Events of changed templates: up to two per template, because a change of status has its own event. */
export const changeEvents = (changes: readonly ChangedTemplate[]): NewEvent[] =>
  changes.flatMap(({ row, previous }): NewEvent[] => {
    const template = eventTemplate(row);
    if (!previous) return [{ type: 'template.created', payload: { template } }];
    const [others, status] = [difference(row, previous, OTHER_COLUMNS), difference(row, previous, STATUS_COLUMNS)];
    return [
      ...(others ? [{ type: 'template.updated', payload: { template, previous: others } } as const] : []),
      ...(status ? [{ type: 'template.status_changed', payload: { template, previous: status } } as const] : []),
    ];
  });

/**
 * Reports removed templates as a last change of status: consumers that track sendable templates need no other event, and the
 * payload is the last record of them.
 */
export const removalEvents = (rows: readonly TemplateRow[]): NewEvent[] =>
  rows.map(row => ({
    type: 'template.status_changed',
    payload: {
      template: { ...eventTemplate(row), status: 'DELETED', status_reason: null },
      previous: { status: row.status },
    },
  }));

/** The old values of the changed columns. */
function difference(
  row: TemplateRow,
  previous: TemplateRow,
  columns: readonly (keyof TemplateRow)[],
): Partial<EventTemplate> | undefined {
  const changed = columns.filter(column => !isDeepStrictEqual(row[column], previous[column]));
  if (changed.length === 0) return undefined;
  return eventTemplate(Object.fromEntries(changed.map(column => [column, previous[column]])));
}
