import { selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { body, choice } from '../runtime/fields.ts';
import { type Route, requireRow, route } from '../runtime/route.ts';
import { STATES } from '../wire/campaigns.ts';
import { ExportRecipientsDocument, type ExportRowFragment, GetExportDocument } from '../wire/documents.generated.ts';
import { time } from '../wire/values.ts';

const exportRow = (row: ExportRowFragment, call: Call) => ({
  ...row,
  state: row.state?.toLowerCase(),
  file_type: row.file_type?.toLowerCase(),
  url: row.url && call.address(row.url),
  created_at: time(row.created_at),
  completed_at: time(row.completed_at),
  expires_at: time(row.expires_at),
});

/** Files with the recipients of campaigns. Other lists are exported over GraphQL. */
export const exportRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/campaigns/:id/export',
    resource: 'Campaign',
    document: ExportRecipientsDocument,
    summary: 'Writes the recipients of a campaign, and what became of them, to a file, in the background.',
    notes:
      'Read `/exports/{id}` until `state` is `completed`; `url` is then the file. Needs `campaigns:read` and `contacts:read` too.',
    status: 201,
    body: body({
      file_type: choice({ csv: 'CSV', json: 'JSON' }, { description: 'Format of the file. Default: `csv`.' }),
      recipient_state: choice(STATES, { description: 'Only recipients in this state. Default: all.' }),
    }),
    answer: selectionOf('result.row'),
    example: { file_type: 'csv', recipient_state: 'failed' },
    errors: ['CONFLICT'],
    variables: ({ call, id, body: { file_type: fileType, recipient_state: state } }) => ({
      input: {
        resource: { campaignRecipients: { campaignId: id, filter: state ? { state: { eq: state } } : undefined } },
        fileType: fileType ?? 'CSV',
        idempotencyKey: call.idempotencyKey,
      },
    }),
    respond: ({ result: { row } }, { call }) => ({
      message: 'Export queued',
      data: exportRow(requireRow(row, 'Export'), call),
    }),
  }),
  route({
    method: 'GET',
    path: '/exports/:id',
    resource: 'Export',
    idKind: 'uuid',
    document: GetExportDocument,
    answer: selectionOf('row'),
    variables: ({ id }) => ({ id }),
    respond: ({ row }, { call }) => ({ message: 'Export', data: exportRow(requireRow(row, 'Export'), call) }),
  }),
];
