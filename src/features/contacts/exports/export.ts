import type { Author } from '../../../core/author.ts';
import type { Filter } from '../../../core/list-args.ts';

export type ExportState = 'queued' | 'running' | 'completed' | 'failed' | 'expired';
export type ExportResource = 'contacts' | 'messages' | 'contact' | 'costs' | 'campaign_recipients';
export type FileType = 'csv' | 'json';

/** A file that was requested, as the API shows it. */
export interface ExportRow {
  readonly id: string;
  readonly state: ExportState;
  readonly resource: ExportResource;
  readonly file_type: FileType;
  /** Of the export of one person. */
  readonly contact_id: number | null;
  readonly author: Author;
  readonly row_count: number | null;
  readonly error: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
  /** End of the file. */
  readonly expires_at: string | null;
}

export const EXPORT_COLUMNS = [
  'id',
  'state',
  'resource',
  'file_type',
  'contact_id',
  'author',
  'row_count',
  'error',
  'created_at',
  'completed_at',
  'expires_at',
] as const satisfies readonly (keyof ExportRow)[];

/** Export job, as read by a lane. */
export interface ExportJob extends Pick<ExportRow, 'id' | 'resource' | 'file_type' | 'contact_id' | 'author'> {
  readonly filter: Filter | null;
  readonly attempts: number;
}

/** Name of the queue. */
export const EXPORTS = 'exports';

/** One lane a tenant: its exports are written one after the other. */
export const exportLane = (tenantId: number): string => String(tenantId);

/** @example contacts-2026-11-23.csv, contact-17-2026-11-23.json, campaign-recipients-2026-11-23.csv */
export function filenameOf({ resource, contact_id: contactId, file_type: type, created_at: at }: ExportRow): string {
  const what = resource === 'contact' ? `contact-${contactId}` : resource.replace('_', '-');
  return `${what}-${at.slice(0, 10)}.${type}`;
}

export const MIME_TYPES: Readonly<Record<FileType, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
};
