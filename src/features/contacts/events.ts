import type { Changed, NewEvent } from '../../core/events.ts';
import type { ConsentCategory, PublicConsentEntry } from './consent/consent.ts';
import { CONTACT_COLUMNS, type ContactRow, type PublicContact } from './contact.ts';
import type { PublicReceipt } from './erasure/receipt.ts';
import type { ExportRow } from './exports/export.ts';
import type { PublicGroup, PublicSource, PublicStatus } from './labels/label.ts';
import type { ChangeReason } from './recognition/people.ts';

type ContactPayload = { readonly contact: PublicContact };

declare module '../../core/events.ts' {
  interface EventPayloads {
    'contact.created': ContactPayload;
    'contact.updated': ContactPayload & Changed<PublicContact>;
    'contact.deleted': ContactPayload;
    /** All data of the person has been erased. */
    'contact.erased': ContactPayload & { readonly receipt: PublicReceipt };
    'contact.opted_out': ContactPayload;
    'contact.opted_in': ContactPayload;
    /** Another contact (`former_id`) proved to be the same person; its id resolves to this contact. */
    'contact.merged': ContactPayload & { readonly former_id: number };
    /** The network reported another number or user id of the person. */
    'contact.identity_changed': ContactPayload & { readonly reasons: readonly ChangeReason[] };
    /** The consent of a person changed. `opted_out`: all categories that the person has opted out of. */
    'consent.changed': ContactPayload & {
      readonly consent: PublicConsentEntry;
      readonly opted_out: readonly ConsentCategory[];
    };
    /** The file of an export can be downloaded. */
    'export.completed': { readonly export: ExportRow };
    /** An export was given up; `error` says why. */
    'export.failed': { readonly export: ExportRow };
    'group.created': { readonly group: PublicGroup };
    'group.updated': { readonly group: PublicGroup } & Changed<PublicGroup>;
    'group.deleted': { readonly group: PublicGroup };
    'source.created': { readonly source: PublicSource };
    'source.updated': { readonly source: PublicSource } & Changed<PublicSource>;
    'source.deleted': { readonly source: PublicSource };
    'status.created': { readonly status: PublicStatus };
    'status.updated': { readonly status: PublicStatus } & Changed<PublicStatus>;
    'status.deleted': { readonly status: PublicStatus };
  }
}

/** `contact.updated` with the old values of changed columns, and `contact.opted_out` or `contact.opted_in` if that changed. */
export function changeEvents(before: ContactRow, after: ContactRow): NewEvent[] {
  const previous: Record<string, unknown> = {};
  for (const column of CONTACT_COLUMNS)
    if (column !== 'updated_at' && before[column] !== after[column]) previous[column] = before[column];
  const events: NewEvent[] = [
    { type: 'contact.updated', payload: { contact: after, previous: previous as Partial<PublicContact> } },
  ];
  if ('opted_out_at' in previous) {
    events.push({
      type: after.opted_out_at === null ? 'contact.opted_in' : 'contact.opted_out',
      payload: { contact: after },
    });
  }
  return events;
}
